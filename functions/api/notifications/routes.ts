import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import {
  area,
  Count,
  Cursor,
  json,
  Limit,
  mine,
  pageOf,
  route,
  send,
  sendNothing,
} from '../http/route.ts'
import { Notification } from './schemas.ts'

const Unread = z.object({
  unread: Count.describe('How many notifications are unread, of all identities.'),
}).openapi('UnreadNotifications', { description: 'For a badge.' })
const OneNotification = z.strictObject({ notificationId: z.uuid() })

const tags = ['notifications']

const list = route({
  ...mine,
  tags,
  operationId: 'list_notifications',
  method: 'get',
  path: '/',
  summary: 'List my notifications, newest first',
  description: 'Of all identities of the account; each names its own.',
  request: {
    query: z.strictObject({
      unread: z.enum(['true', 'false']).transform((text) => text === 'true').optional()
        .describe('true: unread ones only; false: read ones only.'),
      cursor: Cursor.optional(),
      limit: Limit,
    }),
  },
  responses: {
    200: json(pageOf('NotificationPage', Notification), 'Of all my identities.'),
  },
})

const count = route({
  ...mine,
  tags,
  operationId: 'count_unread_notifications',
  method: 'get',
  path: '/unread-count',
  summary: 'Count my unread notifications',
  description: 'For a badge.',
  responses: { 200: json(Unread, 'Of all my identities.') },
})

const read = route({
  ...mine,
  tags,
  operationId: 'read_notification',
  method: 'post',
  path: '/{notificationId}/read',
  summary: 'Mark a notification as read',
  description: 'Can be repeated.',
  errors: ['not_found'],
  request: { params: OneNotification },
  responses: { 200: json(Unread, 'The remaining unread notifications.') },
})

const readAll = route({
  ...mine,
  tags,
  operationId: 'read_all_notifications',
  method: 'post',
  path: '/read-all',
  summary: 'Mark all notifications as read',
  description: 'Those that arrive meanwhile stay unread and are counted in the answer.',
  responses: { 200: json(Unread, 'Notifications that arrived meanwhile.') },
})

const remove = route({
  ...mine,
  tags,
  operationId: 'delete_notification',
  method: 'delete',
  path: '/{notificationId}',
  summary: 'Delete a notification',
  description: 'Takes it out of the list.',
  errors: ['not_found'],
  request: { params: OneNotification },
  responses: { 204: { description: 'Gone.' } },
})

export const notifications = area()
  .openapi(list, async (c) => {
    const { unread, cursor, limit } = c.req.valid('query')
    const args = { unread, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_notifications', args))
  })
  .openapi(count, async (c) => send(c, await call(c, 'count_unread_notifications', {})))
  .openapi(readAll, async (c) => send(c, await call(c, 'read_all_notifications', {})))
  .openapi(read, async (c) => send(c, await call(c, 'read_notification', c.req.valid('param'))))
  .openapi(remove, async (c) => {
    await call(c, 'delete_notification', c.req.valid('param'))
    return sendNothing(c)
  })
