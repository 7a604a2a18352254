/** Devices that receive the pushes of the calling account. */
import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/db.ts'
import { area, body, json, mine, pageOf, route, send, sendNothing, Time } from '../http/route.ts'

const visible = /^[^\p{Cc}]+$/u

const DeviceId = z.string().min(1).max(200).regex(visible)
const Platform = z.enum(['ios', 'android', 'web'], { error: 'device_platform_invalid' })

const Device = z.object({
  deviceId: z.string(),
  platform: z.enum(['ios', 'android', 'web']),
  appVersion: z.string().nullable(),
  locale: z.string().nullable(),
  current: z.boolean().openapi({ description: 'Registered by the calling session.' }),
  createdAt: Time,
  updatedAt: Time,
}).openapi('Device')

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
    pushToken: z.string().max(2048).regex(/^[\x21-\x7E]+$/).openapi({
      description: 'The FCM token. It belongs to the account that registered it last.',
      example: 'fGw3ZJ0kTzm1:APA91bHun4',
    }),
    appVersion: z.string().min(1).max(40).regex(visible).optional(),
    locale: z.string().max(35).regex(/^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$/)
      .openapi({ example: 'ar-KW' }).optional(),
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
