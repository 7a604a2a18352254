/** Actions of people and admins, as requests that race (locks.alone.test.ts). */
import { randomUUID } from 'node:crypto'
import type { Person } from '../support/client.ts'
import { textMessage } from '../support/conversations.ts'
import { completeFields } from '../support/listings.ts'
import { returnUrl } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import type { RawRequest } from '../support/races.ts'
import { filePart, rawForm } from '../support/uploads.ts'

/** Somebody with an office, a pending company, a listing and money, acting as that office. */
export type Side = Person & {
  office: string
  company: string
  listing: string
  drafted: string
  planId: string
  /** An invoice to pay, and one that was paid. */
  open: string
  paid: string
  /** A report of the listing. */
  report: string
}

export const device = () => ({
  deviceId: randomUUID(),
  platform: 'ios',
  pushToken: `token-${randomUUID()}`,
})

type Action = (by: Side, about: Side, talk: string) => RawRequest

/** Actions of people, alone and towards one another. */
export const actions: Record<string, Action> = {
  message: (_by, _about, talk) => ({
    path: `/conversations/${talk}/messages`,
    body: textMessage('هلا'),
  }),
  read: (_by, _about, talk) => ({ method: 'POST', path: `/conversations/${talk}/read` }),
  favorite: (_by, { listing }) => ({ method: 'POST', path: `/favorites/${listing}` }),
  contact: (_by, { listing }) => ({
    path: `/properties/${listing}/contact`,
    body: { kind: 'chat' },
  }),
  conversation: (_by, { listing }) => ({
    path: '/conversations',
    body: { propertyId: listing, message: 'هل ما زال متوفراً؟' },
  }),
  review: (_by, { office }) => ({
    path: '/reviews',
    body: { identityId: office, rating: 5, comment: 'تعامل راقٍ' },
  }),
  report: (_by, { listing }) => ({
    path: '/reports',
    body: { targetType: 'property', targetId: listing, reason: 'spam', note: 'مكرر' },
  }),
  block: (_by, { office }) => ({ method: 'POST', path: `/blocks/${office}` }),
  unblock: (_by, { office }) => ({ method: 'DELETE', path: `/blocks/${office}` }),
  create: () => ({ path: '/properties', body: { ...completeFields.SALE, publish: true } }),
  publish: ({ drafted }) => ({ method: 'POST', path: `/properties/${drafted}/publish` }),
  patch: ({ listing }) => ({
    method: 'PATCH',
    path: `/properties/${listing}`,
    body: { price: 100_000 + Math.floor(Math.random() * 9000) },
  }),
  pause: ({ listing }) => ({ method: 'POST', path: `/properties/${listing}/pause` }),
  resume: ({ listing }) => ({ method: 'POST', path: `/properties/${listing}/resume` }),
  profile: () => ({
    method: 'PATCH',
    path: '/office/profile',
    body: { nameAr: `مكتب ${randomUUID().slice(0, 8)}` },
  }),
  about: () => ({ method: 'PATCH', path: '/office/profile', body: { aboutAr: randomUUID() } }),
  me: () => ({ method: 'PATCH', path: '/auth/me', body: { fullName: 'سالم بن فهد' } }),
  settings: () => ({ method: 'PATCH', path: '/settings', body: { language: 'en' } }),
  switch: ({ identityId }) => ({ path: '/auth/identity/switch', body: { identityId } }),
  back: ({ office }) => ({ path: '/auth/identity/switch', body: { identityId: office } }),
  topup: () => ({ path: '/wallet/topup', body: { amount: 5 } }),
  subscribe: ({ planId }) => ({ path: '/plans/subscribe', body: { planId, payWith: 'wallet' } }),
  cancel: () => ({ method: 'POST', path: '/plans/cancel' }),
  device: () => ({ method: 'PUT', path: '/devices', body: device() }),
  identity: () => ({
    path: '/auth/identities',
    body: {
      type: 'company',
      nameAr: 'شركة جديدة',
      licenceNo: randomUUID().slice(0, 18).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    },
  }),
  login: ({ identifier, password }) => ({ path: '/auth/login', body: { identifier, password } }),
  readAll: () => ({ method: 'POST', path: '/notifications/read-all' }),
  charge: ({ open }) => ({ path: '/payments/charge', body: { invoiceId: open, returnUrl } }),
  export: () => ({ method: 'GET', path: '/auth/me/export' }),
  pictures: ({ listing }) => ({ path: '/media/upload/listings', ...pictures(listing) }),
}

/** A form with a picture that nobody has sent before. */
function pictures(listing: string) {
  const picture = jpeg({ width: 64, height: 64, shade: Math.floor(Math.random() * 256) })
  const { body, headers } = rawForm([
    `Content-Disposition: form-data; name="propertyId"\r\n\r\n${listing}`,
    filePart('files', 'filename="a.jpg"', picture),
  ])
  return { body, headers: Object.entries(headers) as [string, string][] }
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

/** Actions of admins on somebody, and their reversal where there is one. */
export const adminActions: Record<string, (whom: Side) => RawRequest[]> = {
  'suspends the account': ({ id }) => [status(id, 'suspended')],
  'bans the account': ({ id }) => [status(id, 'banned')],
  'suspends and releases the account': ({ id }) => [status(id, 'suspended'), status(id, 'active')],
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
  'refunds': ({ paid }) => [refund(paid, 'wallet'), refund(paid, 'wallet')],
}

const refund = (id: string, to: string) => ({
  path: `/admin/invoices/${id}/refund`,
  body: { amount: 0.1, to, reason },
})
