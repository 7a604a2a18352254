import { backend } from '../_shared/database/db.ts'
import { alarm } from '../_shared/errors/alarms.ts'
import { log } from '../_shared/errors/log.ts'
import { causeOf } from '../_shared/errors/refusal.ts'
import { providerNamed } from '../payments/configured-providers.ts'
import {
  askForRefund,
  type DuePayment,
  lookUp,
  lookUpRefund,
  lookUpRefundsOf,
} from '../payments/events.ts'
import { ProviderUnreachable, ProviderUnreadable, type RefundOrder } from '../payments/provider.ts'

/**
 * If `work` fails for one item, the others continue, and the item is retried later. Raises an alarm unless
 * the provider was unreachable.
 */
async function each<T>(
  list: T[],
  nameOf: (one: T) => string,
  work: (one: T) => Promise<unknown>,
): Promise<number> {
  const waiting = [...list]
  let done = 0
  // Only four run at a time, because providers limit the rate of requests.
  await Promise.all(Array.from({ length: 4 }, async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      try {
        if (await work(one) !== undefined) done++
      } catch (error) {
        const why = causeOf(error as Error)
        log('warn', { job: 'look_up', why })
        const away = error instanceof ProviderUnreachable && !(error instanceof ProviderUnreadable)
        if (!away) await alarm('job_failed', nameOf(one), { why })
      }
    }
  }))
  return done
}

export async function lookUpPayments(): Promise<number> {
  const nameOf = ({ paymentId }: DuePayment) => `look_up_payment ${paymentId}`
  return await each(await backend<DuePayment[]>('due_payments', {}), nameOf, (due) => lookUp(due))
}

type DueRefund = RefundOrder & { provider: string }

export async function lookUpRefunds(): Promise<number> {
  const nameOf = ({ refundId }: DueRefund) => `look_up_refund ${refundId}`
  return await each(await backend<DueRefund[]>('due_refunds', {}), nameOf, async (order) => {
    const provider = providerNamed(order.provider)
    if (!provider) return undefined
    const { refundId, refundRef, chargeRef } = order
    if (refundRef) return await lookUpRefund(provider, { refundRef, chargeRef })
    if (provider.refundsOf) await lookUpRefundsOf(provider, chargeRef)
    return await askForRefund(provider, refundId, provider.refundsOf !== undefined)
  })
}
