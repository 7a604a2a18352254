// The WebSocket gateway is in functions/chat.
import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { MessageText, NewMessage } from '../../_shared/chat/message.ts'
import { storeMessage } from '../../_shared/chat/store-message.ts'
import { call } from '../../_shared/database/db.ts'
import { inQuery } from '../../_shared/input/numbers.ts'
import { realtimeTopic } from '../accounts/schemas.ts'
import {
  acting,
  area,
  body,
  booleanInQuery,
  Count,
  json,
  Limit,
  pageFields,
  PageQuery,
  route,
  send,
  Time,
  TimeInQuery,
} from '../http/route.ts'
import { never } from '../http/together.ts'
import { Conversation, Message } from './schemas.ts'

const tags = ['chat']
const OneConversation = z.strictObject({ id: z.uuid() })
const Seq = inQuery(z.int().min(0).max(2_147_483_647)).optional()

const create = route({
  ...acting,
  tags,
  operationId: 'create_conversation',
  method: 'post',
  path: '/',
  summary: 'Start a conversation with an advertiser, about a listing or in general',
  description:
    'About a listing (`propertyId`) or with an identity in general (`identityId`): one of them. ' +
    'The same two and the same listing are always the same conversation: 200. With `message` ' +
    'its first message is sent at once, and once under its `clientMessageId`. All devices of the ' +
    'caller hear of a new one, the other side of its first message. A listing ' +
    'that has ended or takes no chat is 409. At most 60 new ones a day that the other side has not ' +
    'answered, 5 without a proven phone or email.',
  errors: [
    'terms_not_accepted',
    'property_not_found',
    'identity_not_found',
    'blocked',
    'account_unproven',
    'recipient_proven_only',
    'property_state_conflict',
    'awaiting_answer',
    'message_empty',
  ],
  idempotent: true,
  request: body(
    z.strictObject({
      propertyId: z.uuid().optional().describe('About this listing.'),
      identityId: z.uuid().optional().describe('With this identity, in general.'),
      message: MessageText.optional().describe('The first message.'),
      clientMessageId: NewMessage.shape.clientMessageId.optional(),
    }).refine(({ propertyId, identityId }) => propertyId ?? identityId, {
      error: 'required',
      path: ['propertyId'],
    })
      .openapi(never({ propertyId: null, identityId: null })),
  ),
  responses: {
    200: json(Conversation, 'The existing conversation.'),
    201: json(Conversation, 'A new conversation.'),
  },
})

const list = route({
  ...acting,
  tags,
  operationId: 'list_conversations',
  method: 'get',
  path: '/',
  summary: 'List my conversations, by newest message',
  description:
    'Those that are archived only with `archived=true`. With `limit=1` it is the cheap look that ' +
    'tells whether anything was missed.',
  request: {
    query: PageQuery.extend({
      archived: booleanInQuery('true: those that are archived; else all others.'),
    }),
  },
  responses: {
    200: json(
      pageFields(Conversation).extend({
        unreadTotal: Count.describe(
          'How many messages are unread in all conversations that are not archived.',
        ),
        changedAt: Time.nullable().describe(
          'The newest `changedAt` of all conversations, archived ones included; null without one.',
        ),
        realtimeTopic,
      })
        .openapi('ConversationPage'),
      'Of the acting identity. With limit=1 it tells who looks now and then whether anything was ' +
        'missed.',
    ),
  },
})

const get = route({
  ...acting,
  tags,
  operationId: 'get_conversation',
  method: 'get',
  path: '/{id}',
  summary: 'Get one of my conversations',
  description: 'The same record as in the list.',
  errors: ['conversation_not_found'],
  request: { params: OneConversation },
  responses: { 200: json(Conversation, 'As in the list.') },
})

const update = route({
  ...acting,
  tags,
  operationId: 'update_conversation',
  method: 'patch',
  path: '/{id}',
  summary: 'Mute or archive one of my conversations',
  description:
    'For this side alone: the other never learns of it, and it works across a block. Who archives ' +
    'names the newest message that was seen: if the other side has written since, it stays in the ' +
    'list (200 with `archived: false`). Any message brings an archived conversation back, one that ' +
    'is muted as well only a message of one’s own. My other devices hear of it.',
  errors: ['conversation_not_found'],
  request: {
    params: OneConversation,
    ...body(
      z.strictObject({
        muted: z.boolean().optional().describe('true: no pushes of it; its messages still count.'),
        archived: z.boolean().optional().describe(
          'true: out of the list and of `unreadTotal`; false: back.',
        ),
        upToSeq: z.int().min(0).max(2_147_483_647).optional().describe(
          'With `archived: true` alone, and needed there: the newest message that was seen, 0: none.',
        ),
      }).refine(
        ({ archived, upToSeq }) => (archived === true) === (upToSeq !== undefined),
        {
          error: ({ input }) => Object(input).archived ? 'required' : 'unknown',
          path: ['upToSeq'],
        },
      ).openapi(never(
        { archived: { enum: [true] }, upToSeq: null },
        { archived: null, upToSeq: {} },
        { archived: { enum: [false] }, upToSeq: {} },
      )),
    ),
  },
  responses: { 200: json(Conversation, 'As in the list.') },
})

const messages = route({
  ...acting,
  tags,
  operationId: 'list_messages',
  method: 'get',
  path: '/{id}/messages',
  summary: 'List messages: the newest, those before or after a message, or what changed',
  description:
    'Without parameters the newest ones. `beforeSeq` reads on into the past, `afterSeq` catches ' +
    'up after a pause, `changedSince` also has older messages that were hidden or shown again ' +
    'meanwhile; one of them at most. Messages are numbered without a gap: a missing `seq` was missed.',
  errors: ['conversation_not_found'],
  request: {
    params: OneConversation,
    query: z.strictObject({
      beforeSeq: Seq.describe('Messages before this one.'),
      afterSeq: Seq.describe('Messages after this one.'),
      changedSince: TimeInQuery.optional().describe(
        'Messages written, hidden or shown again since then: the `changedAt` of the last answer to ' +
          '`changedSince` or, where nothing is kept yet, of the newest page; never of `beforeSeq` or ' +
          '`afterSeq`, which skip changes.',
      ),
      limit: Limit,
    }).refine(
      ({ beforeSeq, afterSeq }) => beforeSeq === undefined || afterSeq === undefined,
      { path: ['afterSeq'] },
    ).refine(
      ({ beforeSeq, afterSeq, changedSince }) =>
        changedSince === undefined || (beforeSeq ?? afterSeq) === undefined,
      { path: ['changedSince'] },
    ),
  },
  responses: {
    200: json(
      z.object({
        items: z.array(Message).describe(
          'By ascending `seq`; with `changedSince` in the order of the changes.',
        ),
        hasMore: z.boolean().describe('Whether there is more in the direction that was asked for.'),
        changedAt: Time.nullable().describe(
          'For `changedSince`, from the newest page or an answer to it; null: nothing was written.',
        ),
      }).openapi('MessagePage', { description: 'A part of the history.' }),
      'By ascending seq. hasMore: there is more in the direction that was asked for.',
    ),
  },
})

const sendMessage = route({
  ...acting,
  tags,
  operationId: 'send_message',
  method: 'post',
  path: '/{id}/messages',
  summary: 'Send a message',
  description:
    'Make a new `clientMessageId` for each message and send it again with every try: a message ' +
    'is stored once. At most 60 a minute, and 5 until the other side has answered for the first time.',
  errors: [
    'terms_not_accepted',
    'conversation_not_found',
    'blocked',
    'recipient_proven_only',
    'awaiting_answer',
    'message_empty',
    'not_found',
    'property_not_found',
    'quota_exceeded',
    'uploads_full',
  ],
  idempotent: true,
  request: { params: OneConversation, ...body(NewMessage) },
  responses: {
    200: json(Message, 'Already sent with this clientMessageId.'),
    201: json(Message, 'Sent.'),
  },
})

const read = route({
  ...acting,
  tags,
  operationId: 'read_conversation',
  method: 'post',
  path: '/{id}/read',
  summary: 'Mark a conversation as read, up to a message or entirely',
  description:
    'Without `upToSeq` everything. What was read stays read. The other side is shown it ' +
    '(`peerReadSeq`), unless one of us has switched that off or blocked the other.',
  errors: ['conversation_not_found'],
  request: {
    params: OneConversation,
    body: {
      required: false,
      content: {
        'application/json': {
          schema: z.strictObject({
            upToSeq: z.int().min(0).max(2_147_483_647).optional().describe(
              'The last message that was read; without it all of them.',
            ),
          }),
        },
      },
    },
  },
  responses: {
    200: json(
      z.object({ unread: Count.describe('How many messages are unread.') })
        .openapi('Unread', { description: 'What is left to read in the conversation.' }),
      'The remaining unread messages.',
    ),
  },
})

function sendCreated(c: ApiContext, text: string, name: 'conversation' | 'message') {
  const { created, [name]: record } = JSON.parse(text)
  return send(c, JSON.stringify(record), created ? 201 : 200)
}

export const chat = area()
  .openapi(create, async (c) => {
    const made = await call(c, 'create_conversation', c.req.valid('json'))
    return sendCreated(c, made, 'conversation')
  })
  .openapi(list, async (c) => {
    const { archived, cursor, limit } = c.req.valid('query')
    const args = { archived, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_conversations', args))
  })
  .openapi(get, async (c) => {
    const conversationId = c.req.valid('param').id
    return send(c, await call(c, 'get_conversation', { conversationId }))
  })
  .openapi(update, async (c) => {
    const conversationId = c.req.valid('param').id
    return send(c, await call(c, 'update_conversation', { conversationId, ...c.req.valid('json') }))
  })
  .openapi(messages, async (c) => {
    const { limit, ...range } = c.req.valid('query')
    const conversationId = c.req.valid('param').id
    return send(c, await call(c, 'list_messages', { conversationId, ...range, pageSize: limit }))
  })
  .openapi(sendMessage, async (c) => {
    const message = { conversationId: c.req.valid('param').id, ...c.req.valid('json') }
    return sendCreated(c, await storeMessage(c, message), 'message')
  })
  .openapi(read, async (c) => {
    const { upToSeq } = c.req.valid('json') ?? {}
    const conversationId = c.req.valid('param').id
    return send(c, await call(c, 'read_conversation', { conversationId, upToSeq }))
  })
