import { randomInt, randomUUID } from 'node:crypto'
import { accountActions } from './racing-accounts.ts'
import { listingActions } from './racing-listings.ts'
import { newPlan } from '../billing/purchases.ts'
import { database, type Person } from '../support/client.ts'
import { textMessage } from '../support/conversations.ts'
import {
  createCharge,
  returnUrl,
  sandboxCallback,
  sandboxSignature,
  submitSandboxPage,
  topUpInvoice,
} from '../support/money.ts'
import type { RawRequest } from '../support/races.ts'

/** A person with an office, a pending company, a listing and money, acting as that office. */
export type Side = Person & {
  office: string
  company: string
  listing: string
  drafted: string
  planId: string
  open: string
  paid: string
  report: string
  pair: string
}

export const device = () => ({
  deviceId: randomUUID(),
  platform: 'ios',
  pushToken: `token-${randomUUID()}`,
})

/**
 * Creates any row that the request consumes, and returns the request that `by` will send concerning `about`
 * (`talk` is their conversation).
 */
export type Action = (
  by: Side,
  about: Side,
  talk: string,
) => RawRequest | Promise<RawRequest>

async function newNotification({ id }: Side): Promise<string> {
  const { rows } = await database().query(
    `select private.make_notification($1, null, 'system', null, $2) as id`,
    [id, { titleAr: 'مرحباً', bodyAr: 'أهلاً', titleEn: 'Hello', bodyEn: 'Welcome' }],
  )
  return rows[0].id
}

async function newReview(by: Side, about: Side): Promise<string> {
  const { rows } = await database().query(
    `insert into public.reviews (author_identity_id, subject_identity_id, rating, comment)
     values ($1, $2, 4, 'تعامل ممتاز')
     on conflict on constraint reviews_once_key do update
     set comment = excluded.comment, created_at = now(), replied_at = null, reply = null
     returning id`,
    [by.office, about.office],
  )
  return rows[0].id
}

async function callbackOf(by: Side): Promise<RawRequest> {
  const { ref } = await createCharge(by, await topUpInvoice(by, 5))
  await submitSandboxPage(ref)
  const body = sandboxCallback(ref)
  return { path: '', body, headers: [['Sandbox-Signature', sandboxSignature(body)]] }
}

export const actions: Record<string, Action> = {
  ...accountActions,
  ...listingActions,
  message: (_by, _about, talk) => ({
    path: `/conversations/${talk}/messages`,
    body: textMessage('هلا'),
  }),
  read: (_by, _about, talk) => ({ method: 'POST', path: `/conversations/${talk}/read` }),
  putAside: (_by, _about, talk) => ({
    method: 'PATCH',
    path: `/conversations/${talk}`,
    body: { muted: Math.random() < 0.5, archived: true, upToSeq: 1_000_000 },
  }),
  favorite: (_by, { listing }) => ({ method: 'POST', path: `/favorites/${listing}` }),
  contact: (_by, { listing }) => ({
    path: `/properties/${listing}/contact`,
    body: { kind: 'chat' },
  }),
  conversation: (_by, { listing }) => ({
    path: '/conversations',
    body: { propertyId: listing, message: 'هل ما زال متوفراً؟' },
  }),
  review: async (by, about) => {
    await database().query('delete from public.reviews where id = $1', [await newReview(by, about)])
    return {
      path: '/reviews',
      body: { identityId: about.office, rating: 5, comment: 'تعامل راقٍ' },
    }
  },
  changeReview: async (by, about) => ({
    method: 'PATCH',
    path: `/reviews/${await newReview(by, about)}`,
    body: { rating: 2 },
  }),
  deleteReview: async (by, about) => ({
    method: 'DELETE',
    path: `/reviews/${await newReview(by, about)}`,
  }),
  reply: async (by, about) => ({
    path: `/reviews/${await newReview(about, by)}/reply`,
    body: { body: 'شكراً لك' },
  }),
  report: async (by, { listing }) => {
    await database().query(
      'delete from public.reports where account_id = $1 and target_id = $2',
      [by.id, listing],
    )
    return {
      path: '/reports',
      body: { targetType: 'property', targetId: listing, reason: 'spam', note: 'مكرر' },
    }
  },
  block: (_by, { office }) => ({ method: 'POST', path: `/blocks/${office}` }),
  unblock: (_by, { office }) => ({ method: 'DELETE', path: `/blocks/${office}` }),
  profile: () => ({
    method: 'PATCH',
    path: '/office/profile',
    body: { nameAr: `مكتب ${randomUUID().slice(0, 8)}` },
  }),
  about: () => ({ method: 'PATCH', path: '/office/profile', body: { aboutAr: randomUUID() } }),
  // Sets or removes the office's number at random, which changes the office's listings.
  number: () => ({
    method: 'PATCH',
    path: '/office/profile',
    body: { phone: randomInt(2) ? '+96522223333' : null },
  }),
  topup: () => ({ path: '/wallet/topup', body: { amount: 5 } }),
  subscribe: async ({ office, planId }) => {
    await database().query(
      'update public.subscriptions set renews = false where identity_id = $1',
      [office],
    )
    return { path: '/plans/subscribe', body: { planId, payWith: 'wallet' } }
  },
  // The plan begins at once or follows the current plan, at random.
  change: async ({ office }) => {
    await database().query(
      `update public.subscriptions set status = 'replaced', ended_at = now()
       where identity_id = $1 and status = 'next'`,
      [office],
    )
    const planId = await newPlan({ audience: 'office', price: 26 + randomInt(30), listings: 60 })
    return { path: '/plans/subscribe', body: { planId, payWith: 'wallet' } }
  },
  cancel: () => ({ method: 'POST', path: '/plans/cancel' }),
  charge: ({ open }) => ({ path: '/payments/charge', body: { invoiceId: open, returnUrl } }),
  callback: async (by) => ({ ...await callbackOf(by), path: '/payments/webhook' }),
  callbackOfProvider: async (by) => ({
    ...await callbackOf(by),
    path: '/payments/webhook/sandbox',
  }),
  readOne: async (by) => ({
    method: 'POST',
    path: `/notifications/${await newNotification(by)}/read`,
  }),
  readAll: () => ({ method: 'POST', path: '/notifications/read-all' }),
  dismiss: async (by) => ({
    method: 'DELETE',
    path: `/notifications/${await newNotification(by)}`,
  }),
  device: () => ({ method: 'PUT', path: '/devices', body: device() }),
  takenDevice: async (_by, about) => {
    const theirs = device()
    await about.put('/devices', theirs)
    return { method: 'PUT', path: '/devices', body: theirs }
  },
  removeDevice: async (by) => {
    const mine = device()
    await by.put('/devices', mine)
    return { method: 'DELETE', path: `/devices/${mine.deviceId}` }
  },
  export: () => ({ method: 'GET', path: '/auth/me/export' }),
}

export const leftOut: Record<string, string> = {
  verify_phone_change:
    'locks a user, then what providers said of it; a sign-in the other way round: asked once more',
  verify_email_change:
    'locks a user, then what providers said of it; a sign-in the other way round: asked once more',
  remove_phone:
    'locks a user, then what providers said of it; a sign-in the other way round: asked once more',
  remove_provider:
    'locks a user, then what providers said of it; a sign-in the other way round: asked once more',
  set_user_identifier:
    'locks a user, then what providers said of it; a sign-in the other way round: asked once more',
  accept_terms: 'there are none, and where there are it locks as update_me',
  change_plan: 'writes one row of plans, which no other write locks',
  change_setting: 'writes one row of settings, which no other write locks',
  prove_admin: 'writes one row of its own session, which no other write locks',
  begin_proof: 'as prove_admin',
  begin_passkey: 'as prove_admin',
  add_passkey: 'locks its own account, then writes a row that no other write locks',
  remove_passkey: 'as add_passkey',
  search: 'reads only: its filters are too long for an address',
  count_listings: 'reads only, as search',
  update_company_profile: 'the one function behind update_office_profile, of the other type',
}

export const reason = 'مخالفة الشروط'
const status = (id: string, to: string) => ({
  method: 'PATCH',
  path: `/admin/users/${id}/status`,
  body: { status: to, reason },
})
const identity = (id: string, to: string) => ({
  method: 'PATCH',
  path: `/admin/identities/${id}/status`,
  body: { status: to, reason },
})
const decide = (id: string, decision: string) => ({
  path: `/admin/moderation/${id}/decide`,
  body: { decision, reason },
})
const note = (targetType: string, targetId: string) => ({
  path: '/admin/notes',
  body: { targetType, targetId, text: reason },
})
const refund = (id: string, to: string) => ({
  path: `/admin/invoices/${id}/refund`,
  body: { amount: 0.1, to, reason },
  headers: [['Idempotency-Key', randomUUID()]] as [string, string][],
})

export const adminActions: Record<string, (whom: Side) => RawRequest[]> = {
  'suspends the account': ({ id }) => [status(id, 'suspended')],
  'bans the account': ({ id }) => [status(id, 'banned')],
  'suspends and releases the account': ({ id }) => [status(id, 'suspended'), status(id, 'active')],
  'approves the new name of the identity': ({ office }) => [decide(office, 'approve')],
  'suspends the identity': ({ office }) => [identity(office, 'suspended')],
  'suspends and releases the identity': ({ office }) => [
    identity(office, 'suspended'),
    identity(office, 'active'),
  ],
  'suspends the listing': ({ listing }) => [decide(listing, 'suspend')],
  'suspends and restores the listing': ({ listing }) => [
    decide(listing, 'suspend'),
    decide(listing, 'restore'),
  ],
  'rejects the identity': ({ company }) => [identity(company, 'rejected')],
  'upholds a report': ({ report }) => [decide(report, 'uphold')],
  'suspends a duplicate': ({ pair }) => [decide(pair, 'suspend')],
  'looks at an item': ({ report }) => [
    { method: 'POST', path: `/admin/moderation/${report}/claim` },
    { method: 'POST', path: `/admin/moderation/${report}/release` },
  ],
  'notes something': ({ id, listing }) => [
    note('account', id),
    note('property', listing),
  ],
  'refunds': ({ paid }) => [refund(paid, 'wallet'), refund(paid, 'wallet')],
  'pays out a banned account': ({ id }) => [
    status(id, 'banned'),
    { path: `/admin/users/${id}/payout`, body: { reason } },
    status(id, 'active'),
  ],
}

export const adminActs: Record<string, (whom: Side) => Record<string, unknown>[]> = {
  'suspends the account': ({ id }) => [{ act: 'suspend_account', target: id, reason }],
  'bans the account': ({ id }) => [{ act: 'ban_account', target: id, reason }],
  'suspends and releases the account': ({ id }) => [
    { act: 'suspend_account', target: id, reason },
    { act: 'activate_account', target: id, reason },
  ],
  'suspends and releases the identity': ({ office }) => [
    { act: 'suspend_identity', target: office, reason },
    { act: 'restore_identity', target: office, reason },
  ],
  'suspends and restores the listing': ({ listing }) => [
    { act: 'suspend', target: listing, reason },
    { act: 'restore', target: listing, reason },
  ],
  'rejects the identity': ({ company }) => [{ act: 'reject_identity', target: company, reason }],
  'upholds a report': ({ report }) => [{ act: 'uphold', target: report, reason }],
  'suspends a duplicate': ({ pair }) => [{ act: 'suspend_duplicate', target: pair, reason }],
  'pays out a banned account': ({ id }) => [
    { act: 'ban_account', target: id, reason },
    { act: 'open_payout', target: id, reason },
    { act: 'activate_account', target: id, reason },
  ],
  'refunds': ({ paid }) => [{ act: 'refund', target: paid, to: 'wallet', amount: 0.1, reason }],
}

export const deletion = ({ id }: Pick<Person, 'id'>): RawRequest => ({
  method: 'DELETE',
  path: `/admin/users/${id}`,
  body: { reason },
})
