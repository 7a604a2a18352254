// Webhooks are only hints: for each one we query the provider and store its response.
import { backend } from '../_shared/database/db.ts'
import { inBackground } from '../_shared/errors/background.ts'
import { withTimeout } from '../_shared/errors/timeout.ts'
import { sha256 } from '../_shared/input/hashes.ts'
import { providerNamed } from './configured-providers.ts'
import {
  type Provider,
  ProviderDeclined,
  type ProviderEvent,
  type RefundAnswer,
  type RefundOrder,
} from './provider.ts'

/** `final` means that the outcome is known. Until then, a repeated event queries the provider again. */
export type Received = { received: true; duplicate: boolean; outcome?: string; final?: boolean }

const duplicate: Received = { received: true, duplicate: true }

/**
 * The key includes a hash of the signed part. Otherwise someone could forge an event's unsigned fields to
 * make it look like a repetition of another event.
 */
async function eventKeyOf({ kind, reference, signed }: ProviderEvent): Promise<string> {
  const key = [kind, reference ?? '', await sha256(signed)].join(':')
  return /^[\x20-\x7e]{1,500}$/.test(key) ? key : await sha256(key)
}

// Keys of final events that have been committed, so that repeated events need no database query.
const finished = new Set<string>()
const capacity = 10_000

function remember(key: string) {
  finished.add(key)
  if (finished.size > capacity) finished.delete(finished.values().next().value!)
}

const underWay = new Map<string, Promise<Received>>()

/**
 * Receives an event. The same event, arriving at the same time, waits for the first one and fails if that
 * fails.
 */
export async function receiveEvent(
  provider: Provider,
  event: ProviderEvent,
  payload: Uint8Array,
): Promise<Received> {
  const [eventKey, payloadSha256] = await Promise.all([eventKeyOf(event), sha256(payload)])
  const key = `${provider.name} ${eventKey}`
  if (finished.has(key)) return duplicate
  const earlier = underWay.get(key)
  if (earlier && isFinal(event, await earlier)) return duplicate
  // The earlier look-up may have begun before this event. All requests that waited for it share one more
  // look-up.
  const joined = underWay.get(key)
  if (joined) return await joined
  const work = lookUpAndSave(provider, event, eventKey, payloadSha256)
  underWay.set(key, work)
  try {
    const received = await work
    if (isFinal(event, received)) remember(key)
    return received
  } finally {
    underWay.delete(key)
  }
}

const isFinal = ({ kind }: ProviderEvent, { duplicate, final }: Received) =>
  duplicate || final || kind === 'other'

async function lookUpAndSave(
  provider: Provider,
  event: ProviderEvent,
  eventKey: string,
  payloadSha256: string,
): Promise<Received> {
  const row = {
    provider: provider.name,
    eventKey,
    kind: event.kind,
    payloadSha256,
    reportedAmount: event.amount,
    reportedCurrency: event.currency,
  }
  let answers: Awaited<ReturnType<typeof answersOf>>
  try {
    answers = await answersOf(provider, event)
  } catch (error) {
    // If the event is already stored as final, it is a duplicate even though the provider did not respond.
    const { provider, eventKey } = row
    if (await backend<boolean>('is_known_event', { provider, eventKey })) return duplicate
    throw error
  }
  const charge = answers.charge ?? undefined
  if (event.kind !== 'refund') return await backend('receive_payment', { ...row, answer: charge })
  return await backend('receive_refund', { ...row, charge, refund: answers.refund ?? undefined })
}

async function answersOf(provider: Provider, { kind, ref, refundRef }: ProviderEvent) {
  const chargeOf = (chargeRef: string | null | undefined) =>
    chargeRef
      ? provider.lookUp({ ref: chargeRef, paymentId: '', createdAt: new Date().toISOString() })
      : null
  if (kind === 'other') return { charge: null, refund: null }
  if (kind === 'payment') return { charge: await chargeOf(ref), refund: null }
  const refund = refundRef ? await provider.lookUpRefund(refundRef, ref ?? null) : null
  return { charge: await chargeOf(refund?.chargeRef ?? ref), refund }
}

const saveRefund = (provider: Provider, refund: RefundAnswer): Promise<Received> =>
  backend('receive_refund', {
    provider: provider.name,
    eventKey: `look-up refund ${refund.refundRef} ${refund.status}`,
    kind: 'look_up',
    refund,
  })

export async function lookUpRefund(
  provider: Provider,
  { refundRef, chargeRef }: { refundRef: string; chargeRef: string },
): Promise<Received | undefined> {
  const refund = await provider.lookUpRefund(refundRef, chargeRef)
  return refund ? await saveRefund(provider, refund) : undefined
}

export async function lookUpRefundsOf(provider: Provider, chargeRef: string) {
  for (const refund of await provider.refundsOf?.(chargeRef) ?? []) {
    await saveRefund(provider, refund)
  }
}

/**
 * Requests a refund. `listed` means that the provider's list of refunds has been read. An order that is
 * `tooLate` is given up unless the list was read: the provider may have forgotten our reference and could
 * refund twice.
 */
export async function askForRefund(provider: Provider, refundId: string, listed = false) {
  const order = await backend<RefundOrder & { repeated: boolean; tooLate: boolean } | null>(
    'begin_refund',
    { refundId },
  )
  if (!order || order.refundRef) return undefined
  if (order.tooLate && !listed) return await backend<unknown>('give_up_refund', { refundId })
  try {
    const { refundRef: providerRef, status } = await provider.refund(order)
    return await backend<unknown>('refund_answered', { refundId, providerRef, status })
  } catch (error) {
    if (!(error instanceof ProviderDeclined)) throw error
    const { repeated } = order
    return await backend<unknown>('refund_declined', { refundId, repeated, listed })
  }
}

export type DuePayment = {
  paymentId: string
  provider: string
  ref: string | null
  createdAt: string
}

/**
 * Looks up a payment at the provider and books the result. After `limit` milliseconds the caller stops
 * waiting, and booking continues in the background.
 */
export async function lookUp(due: DuePayment, limit?: number): Promise<Received | undefined> {
  const provider = providerNamed(due.provider)
  if (!provider) return undefined
  const booked = lookUpAndBook(provider, due)
  if (!limit) return await booked
  inBackground(booked)
  return await withTimeout(limit, booked, 'payment_provider_error')
}

async function lookUpAndBook(provider: Provider, due: DuePayment) {
  const answer = await provider.lookUp(due)
  if (!answer) return undefined
  return await backend<Received>('receive_payment', {
    provider: provider.name,
    eventKey: `look-up ${due.paymentId} ${answer.status}`,
    kind: 'look_up',
    answer,
  })
}
