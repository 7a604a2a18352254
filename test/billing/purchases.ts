import { randomUUID } from 'node:crypto'
import { database, type Person, signUp } from '../support/client.ts'
import { giveMoney, type Invoice } from '../support/money.ts'

export async function personWithMoney(amount = 100): Promise<Person> {
  const person = await signUp()
  await giveMoney(person.identityId, amount)
  return person
}

export async function newPlan(
  {
    credits = 0,
    days = 30,
    price = 10,
    listings = 7,
    listingDays = 30,
    photos = 10,
    audience = 'individual',
  } = {},
): Promise<string> {
  const { rows: [{ id }] } = await database().query(
    `insert into public.plans (code, name_ar, name_en, audience, price, interval_days,
       active_listings, listing_days, photos_per_listing, featured_credits, position)
     values ($1, 'باقة تجريبية', 'Trial', $2, $3, $4, $5, $6, $7, $8, 999) returning id`,
    [
      `r_${randomUUID().slice(0, 8)}`,
      audience,
      price,
      days,
      listings,
      listingDays,
      photos,
      credits,
    ],
  )
  return id
}

/** Buys another interval of a plan; first cancels a plan that renews automatically. */
export async function buy(person: Person, planId: string, payWith = 'wallet'): Promise<Invoice> {
  await person.post('/plans/cancel')
  const { status, body } = await person.post('/plans/subscribe', { planId, payWith })
  if (status !== 201) throw new Error(`subscribe: ${JSON.stringify(body)}`)
  return body.invoice
}

export const refund = (admin: Person, invoice: Invoice, sent: Record<string, unknown> = {}) =>
  admin.post(`/admin/invoices/${invoice.id}/refund`, {
    to: 'wallet',
    reason: 'طلب العميل',
    ...sent,
  })

export const agePlans = (person: Person, days: number) =>
  database().query(
    `update public.subscriptions
     set starts_at = starts_at - $2 * interval '1 day', ends_at = ends_at - $2 * interval '1 day'
     where identity_id = $1`,
    [person.identityId, days],
  )

/** Returns the subscribed plan's id and remaining days; without a subscription the plan's code and 0. */
export async function currentPlan(person: Person): Promise<[string, number]> {
  const { body: { plan, subscription } } = await person.get('/plans/current')
  if (!subscription) return [plan.code, 0]
  return [plan.id, Math.round((Date.parse(subscription.endsAt) - Date.now()) / 86_400_000)]
}
