/** The export of an account: everything that it owns. */
import { z } from '@hono/zod-openapi'
import { call } from '../_shared/db.ts'
import { IdentityRecord, User } from './accounts/schemas.ts'
import { area, json, mine, route, send, Time } from './http/route.ts'
import { Property } from './properties/schemas.ts'

const records = z.array(z.looseObject({}))

const Export = z
  .object({
    exportedAt: Time,
    user: User.extend({ emailProven: z.boolean() }),
    settings: z.looseObject({}),
    sessions: z.array(z.object({
      createdAt: Time.nullable(),
      userAgent: z.string().nullable(),
      address: z.string().nullable(),
    })),
    devices: records,
    notifications: records,
    blocks: records,
    reports: records,
    identities: z.array(z.object({
      identity: IdentityRecord,
      listings: z.array(Property),
      favorites: records,
      contacts: records,
      pictures: records,
      conversations: records,
      subscriptions: records,
      invoices: records,
      wallet: records,
      reviews: records,
    })),
  })
  .openapi('AccountExport')

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
