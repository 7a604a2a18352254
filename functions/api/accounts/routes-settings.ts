/** Settings of the calling account: notifications, quiet hours, privacy. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { area, body, json, mine, route, send } from '../http/route.ts'

const categories = ['messages', 'leads', 'favorites', 'listings', 'billing', 'account'] as const
const channels = ['push', 'inApp', 'sms', 'email'] as const
const secrets = ['showPhone', 'readReceipts', 'showLastSeen'] as const

/** An object with one value for each name. */
const each = <Name extends string, Value extends z.ZodType>(names: readonly Name[], value: Value) =>
  Object.fromEntries(names.map((name) => [name, value])) as Record<Name, Value>

const Language = z.enum(['ar', 'en'])
const TimeOfDay = (example: string) =>
  z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/).openapi({
    description: 'HH:MM in Kuwait.',
    example,
  })
const hours = { from: TimeOfDay('22:00'), to: TimeOfDay('07:00') }

const Settings = z.object({
  language: Language,
  notifications: z.object(each(categories, z.object(each(channels, z.boolean())))),
  quietHours: z.object(hours).nullable().openapi({
    description:
      'Pushes are held back until they end, except security_login and security_password.',
  }),
  privacy: z.object(each(secrets, z.boolean())),
  marketingConsent: z.boolean(),
}).openapi('Settings')

const choice = z.boolean().optional()

const Changes = z.strictObject({
  language: Language.optional(),
  notifications: z.strictObject(
    each(categories, z.strictObject(each(channels, choice)).optional()),
  ).optional(),
  quietHours: z.strictObject(hours)
    .refine(({ from, to }) => from !== to, { path: ['to'] })
    .nullable().optional(),
  privacy: z.strictObject(each(secrets, choice)).optional(),
  marketingConsent: choice,
})

const tags = ['settings']

const get = route({
  ...mine,
  tags,
  operationId: 'get_settings',
  method: 'get',
  path: '/',
  summary: 'Get my settings',
  description: 'With defaults where nothing was chosen.',
  responses: { 200: json(Settings, 'With defaults where nothing was chosen.') },
})

const change = route({
  ...mine,
  tags,
  operationId: 'update_settings',
  method: 'patch',
  path: '/',
  summary: 'Change some of my settings',
  description: 'Everything that is left out stays as it is, at every depth.',
  request: body(Changes),
  responses: { 200: json(Settings, 'All settings.') },
})

export const settings = area()
  .openapi(get, async (c) => send(c, await call(c, 'get_settings', {})))
  .openapi(
    change,
    async (c) => send(c, await call(c, 'update_settings', { fields: c.req.valid('json') })),
  )
