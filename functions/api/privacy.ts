import { z } from '@hono/zod-openapi'
import { call } from '../_shared/database/db.ts'
import { IdentityRecord, SessionRecord, User } from './accounts/schemas.ts'
import { area, Count, json, mine, route, send, Time } from './http/route.ts'
import { Property } from './properties/schemas.ts'

const records = (about: string) => z.array(z.looseObject({})).describe(about)

const Export = z
  .object({
    exportedAt: Time.describe('The moment that it shows.'),
    user: User.omit({ providers: true }).extend({
      termsAcceptedAt: Time.nullable().describe('When it accepted these terms; null: none.'),
    }).describe('The account, without its ways to sign in.'),
    signInProviders: records('Ways to sign in at Auth, with what each said of the person.'),
    metadata: z.looseObject({}).describe('What Auth keeps of what the person or a provider said.'),
    contactChanges: records('Changes of phone and email of the last 72 hours, and resets.'),
    settings: z.looseObject({}).describe('As `GET /settings` has them.'),
    sessions: z.array(SessionRecord).describe('The open sessions.'),
    devices: records('What receives pushes.'),
    notifications: records('All that are kept.'),
    blocks: records('Whom the account blocks.'),
    suspensions: records('What is kept of listings that are suspended, or were within 180 days.'),
    closedLicences: records(
      'Licences of its companies and offices that were closed within 2 years.',
    ),
    reports: records('What the account reported.'),
    identities: z.array(z.object({
      identity: IdentityRecord,
      listings: z.array(Property).describe('In every state, newest first.'),
      deletedListings: records('Those that it has deleted, while they are kept, and when.'),
      priceHistory: records('What its listings cost since when, as far back as that is kept.'),
      leads: records('Who asked for its contact, without their numbers.'),
      favorites: records('What it has saved, and when.'),
      contacts: records('Whose contact it asked for.'),
      views: records('The listings it has looked at, and on which day.'),
      pictures: records('What it has uploaded, by address.'),
      documents: records('What it has sent of its licence, without the contents.'),
      conversations: records(
        'With the messages of both sides, their pictures by address, and whether this one has muted or archived it.',
      ),
      subscriptions: records('Its plans, from when to when.'),
      invoices: records('With their payments.'),
      receipts: records('As they were at payment.'),
      refunds: records('The documents of what it got back of them.'),
      wallet: records('The entries of its ledger.'),
      reviews: records('What it wrote about others, and their replies; of a hidden one no words.'),
      reviewsReceived: records(
        'What others wrote about it, as everybody sees it, and its replies; of a review that is not shown ' +
          'its own reply alone.',
      ),
      featuredCredits: Count.describe('Credits for featured listings that are left.'),
      reported: records(
        'What of it was reported and why, as it stood then, for as long as that is kept. Not by whom, and ' +
          'no messages: their conversation has them.',
      ),
    })).describe('Everything of each identity.'),
  })
  .openapi('AccountExport', { description: 'Everything that is kept about an account.' })

const exported = route({
  ...mine,
  tags: ['accounts'],
  operationId: 'export_account',
  method: 'get',
  path: '/me/export',
  summary: 'Export everything that I own as one JSON document',
  description: 'Everything that the account and its identities own, as a file. At most 5 a day.',
  responses: { 200: json(Export, 'The export.') },
})

export const accountExport = area()
  .openapi(exported, async (c) => {
    c.get('headers')['Content-Disposition'] = 'attachment; filename="export.json"'
    return send(c, await call(c, 'export_account', {}, { rate: 'export' }))
  })
