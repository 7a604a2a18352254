/** What a provider tells, taken in: the provider is asked, and its answer goes to the database. */
import { backend } from '../api/db.ts'
import type { Provider, Told } from './provider.ts'

export type Taken = { received: true; duplicate: boolean; outcome?: string }

const duplicate: Taken = { received: true, duplicate: true }

// Events whose transaction was committed here, so that their repetitions cost nobody anything.
const done = new Set<string>()
const most = 10_000

function remember(key: string) {
  done.add(key)
  if (done.size > most) done.delete(done.values().next().value!)
}

const underWay = new Map<string, Promise<Taken>>()

/** Takes an event in. The same one at the same time waits for the first, and fails with it. */
export async function take(provider: Provider, told: Told, sha256: string): Promise<Taken> {
  const key = `${provider.name} ${told.key}`
  if (done.has(key)) return duplicate
  const first = underWay.get(key)
  if (first) {
    await first
    return duplicate
  }
  const work = receive(provider, told, sha256)
  underWay.set(key, work)
  try {
    const taken = await work
    remember(key)
    return taken
  } finally {
    underWay.delete(key)
  }
}

async function receive(provider: Provider, told: Told, payloadSha256: string): Promise<Taken> {
  const event = {
    provider: provider.name,
    eventKey: told.key.slice(0, 500),
    kind: told.kind,
    payloadSha256,
    toldAmount: told.amount,
  }
  let facts: Awaited<ReturnType<typeof factsOf>>
  try {
    facts = await factsOf(provider, told)
  } catch (error) {
    // Known already, it is a repetition whether or not the provider answers.
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

/** The same for a refund: what became of it. */
export async function lookUpRefund(
  provider: Provider,
  { refundId, refundRef, chargeRef }: { refundId: string; refundRef: string; chargeRef: string },
): Promise<Taken | undefined> {
  const refund = await provider.lookUpRefund(refundRef, chargeRef)
  if (!refund) return undefined
  return await backend('receive_refund', {
    provider: provider.name,
    eventKey: `look-up ${refundId} ${refund.status}`,
    kind: 'look_up',
    refund,
  })
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
