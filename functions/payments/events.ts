/** What a provider tells, taken in: the provider is asked, and its answer goes to the database. */
import { backend } from '../_shared/db.ts'
import type { Provider, RefundTruth, Told } from './provider.ts'
import { sha256 } from './signing.ts'

/** `final`: the provider said what became of it. Until then the same event is looked up again. */
export type Taken = { received: true; duplicate: boolean; outcome?: string; final?: boolean }

const duplicate: Taken = { received: true, duplicate: true }

/**
 * What makes an event the same one: what it is about, its reference and the hash of what was signed.
 * Whoever has a genuine event can change the rest of it, and must not spoil another one with that.
 */
export async function keyOf({ kind, reference, signed }: Told): Promise<string> {
  const key = [kind, reference ?? '', await sha256(signed)].join(':')
  return /^[\x20-\x7e]{1,500}$/.test(key) ? key : await sha256(key)
}

// Final events whose transaction was committed here, so that repetitions cost nobody anything.
const done = new Set<string>()
const most = 10_000

function remember(key: string) {
  done.add(key)
  if (done.size > most) done.delete(done.values().next().value!)
}

const underWay = new Map<string, Promise<Taken>>()

/** Takes an event in. The same one at the same time waits for the first, and fails with it. */
export async function take(provider: Provider, told: Told, payload: Uint8Array): Promise<Taken> {
  const [eventKey, payloadSha256] = await Promise.all([keyOf(told), sha256(payload)])
  const key = `${provider.name} ${eventKey}`
  if (done.has(key)) return duplicate
  const earlier = underWay.get(key)
  if (earlier && isFinal(told, await earlier)) return duplicate
  // That look-up may have begun too early for this one: another is made, for all who waited.
  const joined = underWay.get(key)
  if (joined) return await joined
  const work = receive(provider, told, eventKey, payloadSha256)
  underWay.set(key, work)
  try {
    const taken = await work
    if (isFinal(told, taken)) remember(key)
    return taken
  } finally {
    underWay.delete(key)
  }
}

const isFinal = ({ kind }: Told, { duplicate, final }: Taken) =>
  duplicate || final || kind === 'other'

async function receive(
  provider: Provider,
  told: Told,
  eventKey: string,
  payloadSha256: string,
): Promise<Taken> {
  const event = {
    provider: provider.name,
    eventKey,
    kind: told.kind,
    payloadSha256,
    reportedAmount: told.amount,
    reportedCurrency: told.currency,
  }
  let facts: Awaited<ReturnType<typeof factsOf>>
  try {
    facts = await factsOf(provider, told)
  } catch (error) {
    // Known for good, it is a repetition whether or not the provider answers.
    const { provider, eventKey } = event
    if (await backend<boolean>('is_known_event', { provider, eventKey })) return duplicate
    throw error
  }
  const charge = facts.charge ?? undefined
  if (told.kind !== 'refund') return await backend('receive_payment', { ...event, truth: charge })
  return await backend('receive_refund', { ...event, charge, refund: facts.refund ?? undefined })
}

/** What the provider says of the charge, and of the refund where it is about one. */
async function factsOf(provider: Provider, { kind, ref, refundRef }: Told) {
  const chargeOf = (wanted: string | null | undefined) =>
    wanted
      ? provider.lookUp({ ref: wanted, paymentId: '', createdAt: new Date().toISOString() })
      : null
  if (kind === 'other') return { charge: null, refund: null }
  if (kind === 'payment') return { charge: await chargeOf(ref), refund: null }
  const refund = refundRef ? await provider.lookUpRefund(refundRef, ref ?? null) : null
  return { charge: await chargeOf(refund?.chargeRef ?? ref), refund }
}

const takeRefund = (provider: Provider, refund: RefundTruth): Promise<Taken> =>
  backend('receive_refund', {
    provider: provider.name,
    eventKey: `look-up refund ${refund.refundRef} ${refund.status}`,
    kind: 'look_up',
    refund,
  })

/** The same for a refund: what became of it. */
export async function lookUpRefund(
  provider: Provider,
  { refundRef, chargeRef }: { refundRef: string; chargeRef: string },
): Promise<Taken | undefined> {
  const refund = await provider.lookUpRefund(refundRef, chargeRef)
  return refund ? await takeRefund(provider, refund) : undefined
}

/** Takes in all refunds of a charge that its provider has. */
export async function lookUpRefundsOf(provider: Provider, chargeRef: string) {
  for (const refund of await provider.refundsOf?.(chargeRef) ?? []) {
    await takeRefund(provider, refund)
  }
}

/** A look-up of our own, for the job and after a charge that nobody answered. */
export async function lookUp(
  provider: Provider,
  { paymentId, ref, createdAt }: { paymentId: string; ref: string | null; createdAt: string },
): Promise<Taken | undefined> {
  const truth = await provider.lookUp({ ref, paymentId, createdAt })
  if (!truth) return undefined
  return await backend('receive_payment', {
    provider: provider.name,
    eventKey: `look-up ${paymentId} ${truth.status}`,
    kind: 'look_up',
    truth,
  })
}
