import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { text } from '../../_shared/input/texts.ts'
import { forInformation } from '../../_shared/input/validation.ts'
import { area, body, json, mine, pageOf, route, send, sendNothing, Time } from '../http/route.ts'

const visible = (text: z.ZodString) =>
  text.regex(/^[^\p{Cc}]+$/u).openapi({ pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$' })

const DeviceId = visible(text(200).min(1)).describe(
  'Chosen by the app, the same for as long as it is installed.',
)
const Platform = z.enum(['ios', 'android', 'web'], { error: 'device_platform_invalid' })

const Device = z.object({
  deviceId: z.string().describe('As the app chose it.'),
  platform: z.enum(['ios', 'android', 'web']),
  appVersion: z.string().nullable().describe('As the app said; null: it did not, or not so.'),
  locale: z.string().nullable().describe(
    'Language, country and the like as the app said them; null: it did not, or not so.',
  ),
  current: z.boolean().describe('Registered by the calling session.'),
  createdAt: Time,
  updatedAt: Time.describe('When it was last registered.'),
}).openapi('Device', { description: 'A device that receives pushes.' })

const OneDevice = z.strictObject({ deviceId: DeviceId })

const tags = ['devices']

const register = route({
  ...mine,
  tags,
  operationId: 'register_device',
  method: 'put',
  path: '/',
  summary: 'Register a device for pushes, until its session ends',
  description:
    'Call it after signing in and whenever the push token changes. A token belongs to the ' +
    'account that registered it last; an account has 20 devices, and the one registered longest ' +
    'ago makes room.',
  request: body(z.strictObject({
    deviceId: DeviceId,
    platform: Platform,
    pushToken: text(2048).regex(/^[\x21-\x7E]+$/).openapi({
      description: 'The FCM token. It belongs to the account that registered it last.',
      example: 'fGw3ZJ0kTzm1:APA91bHun4',
    }),
    appVersion: forInformation(visible(text(40).min(1))).describe(
      'Shown in the list. One that does not fit is left out.',
    ),
    locale: forInformation(text(100)).openapi({
      example: 'ar-KW',
      description:
        'Of the device, as BCP 47, POSIX or Java write it; what is not understood is left out. ' +
        'Pushes are in the language of the account.',
    }),
  })),
  responses: { 200: json(Device, 'Registered or updated.') },
})

const list = route({
  ...mine,
  tags,
  operationId: 'list_devices',
  method: 'get',
  path: '/',
  summary: 'List my devices',
  description: 'All of them: there are no further pages.',
  responses: { 200: json(pageOf('DevicePage', Device), 'Last registered first.') },
})

const remove = route({
  ...mine,
  tags,
  operationId: 'remove_device',
  method: 'delete',
  path: '/{deviceId}',
  summary: 'Remove a device',
  description: 'It gets no more pushes.',
  errors: ['not_found'],
  request: { params: OneDevice },
  responses: { 204: { description: 'Gone.' } },
})

export const devices = area()
  .openapi(register, async (c) => send(c, await call(c, 'register_device', c.req.valid('json'))))
  .openapi(list, async (c) => send(c, await call(c, 'list_devices', {})))
  .openapi(remove, async (c) => {
    await call(c, 'remove_device', c.req.valid('param'))
    return sendNothing(c)
  })
