import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { area, body, describedAs, json, mine, route, send } from '../http/route.ts'
import { User } from './schemas.ts'

const categories = {
  messages: 'New messages.',
  leads: 'Who asked how to contact me.',
  favorites: 'Price drops and endings of listings that I saved.',
  listings: 'Decisions on my listings, and their endings.',
  reviews: 'Reviews of me and of my identities.',
  billing: 'Invoices, refunds and plans.',
  account: 'Sign-ins, passwords, identities and word from the service.',
}
const channels = {
  push: 'As a push to my devices.',
  inApp: 'In the list of notifications.',
  sms: 'By SMS. Kept for later: nothing is sent yet.',
  email: 'By mail. Kept for later: nothing is sent yet.',
}
const secrets = {
  showPhone: 'Whether `POST /properties/{id}/contact` gives my phone to whoever asks.',
  readReceipts: 'Whether others see that I have read their messages, and I that they have mine.',
  showLastSeen:
    'For apps: whether others may see when I was last there. The service shows it to nobody.',
}

const whoMayWrite = z.enum(['everyone', 'proven']).describe(
  'Who opens a conversation with me, and writes where I never wrote: everyone, or those with a proven ' +
    'phone or email.',
)

const each = <Name extends string, Value extends z.ZodType>(
  names: Record<Name, string>,
  value: Value,
) =>
  Object.fromEntries(
    Object.entries<string>(names).map(([name, about]) => [name, value.describe(about)]),
  ) as Record<Name, Value>

const { language } = User.shape
const TimeOfDay = (example: string) =>
  z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/).openapi({
    description: 'HH:MM in Kuwait.',
    example,
  })
const hours = { from: TimeOfDay('22:00'), to: TimeOfDay('07:00') }

const Settings = z.object({
  language,
  notifications: z.object(each(categories, z.object(each(channels, z.boolean()))))
    .describe('Which notifications I want, and how.'),
  quietHours: z.object(hours).nullable().describe(
    'Pushes are held back until they end, except security_login, security_password, security_provider, ' +
      'security_contact, deletion_requested and deletion_cancelled.',
  ),
  privacy: z.object({ ...each(secrets, z.boolean()), whoMayWrite }).describe(
    'What others see of me, and who may write to me.',
  ),
  marketingConsent: z.boolean().describe('Whether the service may send advertising.'),
}).openapi('Settings', { description: 'The settings of an account.' })

const choice = z.boolean().optional()

const Changes = z.strictObject(describedAs(Settings.shape, {
  language: language.optional(),
  notifications: z.strictObject(
    each(categories, z.strictObject(each(channels, choice)).optional()),
  ).optional(),
  quietHours: z.strictObject(hours)
    .refine(({ from, to }) => from !== to, { path: ['to'] })
    .nullable().optional(),
  privacy: z.strictObject({ ...each(secrets, choice), whoMayWrite: whoMayWrite.optional() })
    .optional(),
  marketingConsent: choice,
}))

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
