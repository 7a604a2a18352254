// Describes the gateway's frames and the Realtime events in AsyncAPI. Tests validate every frame and event
// against this description.
import { OpenAPIHono, z } from '@hono/zod-openapi'
import { frameData, FrameRef } from '../../_shared/chat/frames.ts'
import type {
  Acked,
  ConversationUpdated,
  MessageHidden,
  MessageRead,
  NotificationsChanged,
  Notified,
  Outgoing,
} from '../../_shared/chat/protocol.ts'
import { schemaOf, schemasOf } from '../../_shared/input/schema-of.ts'
import { env } from '../../_shared/settings/env.ts'
import { apiVersion } from '../http/middleware.ts'
import { Problem } from '../http/problem.ts'
import { Count, Time } from '../http/route.ts'
import { Notification } from '../notifications/schemas.ts'
import { Conversation, Message } from './schemas.ts'

const { lastMessage, unread, muted, archived, peerReadSeq, changedAt, liveTopic } =
  Conversation.shape
const state = { lastMessage, unread, muted, archived, peerReadSeq, changedAt }
const conversationId = z.uuid()
const identityId = z.uuid()

const { code, message, messageEn, retryAfter, fields } = Problem.shape.error.shape

const Updated = schemaOf<ConversationUpdated>()(
  z.strictObject({
    conversationId,
    identityId: identityId.optional().describe('Whose conversation it is.'),
    ...state,
    liveTopic: liveTopic.optional(),
  }).describe('How a conversation stands now.'),
)

const Read = schemaOf<MessageRead>()(
  z.strictObject({
    conversationId,
    identityId: identityId.describe('Whose conversation it is.'),
    upToSeq: Count.describe('The last message that was read.'),
  }).describe('The other side has read messages.'),
)

const unreadNotifications = Count.describe('How many notifications are unread now.')

const NewNotification = schemaOf<Notified>()(
  z.strictObject({
    identityId: identityId.nullable().describe(
      'The identity that it is about; null: the account itself.',
    ),
    notification: Notification,
    unread: unreadNotifications,
  }).describe(
    'There is a new notification, or one stands for more. Of messages there is none: their own ' +
      'events tell of them.',
  ),
)

const ChangedNotifications = schemaOf<NotificationsChanged>()(
  z.strictObject({ unread: unreadNotifications }).describe(
    'Unread notifications were read or are gone, on whatever device: also by a conversation that was ' +
      'read or archived, and by a block.',
  ),
)

const Hidden = schemaOf<MessageHidden>()(
  z.strictObject({
    conversationId,
    id: z.uuid().describe('Of the message.'),
    seq: z.int().min(1).describe('Its number in the conversation.'),
  }).describe('An administrator has hidden a message: nothing of it is to be shown any more.'),
)

const fromGateway = schemasOf<Omit<Outgoing, 'ack'>>()({
  new_message: z.strictObject({ message: Message }).describe('A message of a joined conversation.'),
  conversation_updated: Updated,
  message_read: Read,
  notification: NewNotification,
  notifications_changed: ChangedNotifications,
  message_hidden: Hidden,
  typing: z.strictObject({ conversationId, identityId: identityId.describe('The other side’s.') })
    .describe('The other side of a joined conversation is writing.'),
  presence: z.strictObject({
    conversationId,
    identityId: identityId.describe('The other side’s.'),
    here: z.boolean().describe('Whether it has the conversation open, on any device.'),
  }).describe('The other side of a joined conversation came or went; after a join, how it is.'),
  error: z.looseObject({
    code,
    message,
    messageEn: messageEn.optional(),
    retryAfter,
    fields,
    conversationId: conversationId.optional().describe(
      'The conversation that the socket is out of, where this is no answer.',
    ),
  }).describe('A frame was refused, or a right has ended. Some codes add details.'),
})

/** The data of an `ack`, by the event that it acknowledges. */
const acked = schemasOf<Acked>()({
  auth: z.strictObject({ expiresAt: Time.describe('When the token ends, and the socket with it.') })
    .describe('The token is good.'),
  join_conversation: z.strictObject({
    conversationId,
    lastSeq: Count.describe('The newest message that there is.'),
  }).describe('Its messages come from now on.'),
  leave_conversation: z.strictObject({ conversationId }).describe('Its messages come no longer.'),
  send_message: z.strictObject({ message: Message }).describe('The message is stored.'),
  send_typing: z.strictObject({ conversationId }).describe('It is passed on, if it is time again.'),
  heartbeat: z.strictObject({}).describe('The gateway is there.'),
})

const id = z.uuid().describe('Of the broadcast: Realtime adds it.')

const inAccount = Updated.required({ identityId: true, liveTopic: true }).extend({ id })

const toAccount = {
  new_message: z.strictObject({
    id,
    identityId,
    message: Message,
    conversation: z.strictObject({ id: z.uuid(), ...state, liveTopic }).describe(
      'How its conversation stands now.',
    ),
    notificationId: z.uuid().optional(),
  }).describe('A message was stored: once for each side, the sender’s other devices included.'),
  conversation_updated: inAccount.describe(
    'A conversation changed without a message, or was just opened by this side.',
  ),
  message_read: inAccount.extend({ upToSeq: Read.shape.upToSeq }).describe(
    'The other side has read messages, and how the conversation stands now.',
  ),
  notification: NewNotification.extend({ id }).describe(NewNotification.description!),
  notifications_changed: ChangedNotifications.extend({ id }).describe(
    ChangedNotifications.description!,
  ),
  message_hidden: Hidden.extend({ identityId }).describe(Hidden.description!),
  topic_changed: z.strictObject({
    id,
    old: z.string().describe('The name of this channel.'),
    new: z.string().describe('The name of the channel from now on.'),
  }).describe('The last event on this channel: go on at the new one.'),
}

const whoActs = identityId.describe('The identity that acts; ignore your own, of another device.')

/** Events that clients send to each other on a conversation's live channel. */
const live = {
  typing: z.strictObject({ identityId: whoActs }).describe(
    'A participant is writing: a broadcast, at most every 2 s.',
  ),
  presence: z.record(whoActs, z.array(z.looseObject({}))).describe(
    'The presence state, as the libraries of Realtime keep it: by the key, which is the identityId, who ' +
      'has the conversation open. What is tracked is `{}`.',
  ),
}

type Schemas = Record<string, z.ZodType>

const frame = (event: string, data: z.ZodType) =>
  z.strictObject({ event: z.literal(event), data, ref: FrameRef.optional() })
    .describe(data.description!)

const framesOf = (schemas: Schemas): Schemas =>
  Object.fromEntries(Object.entries(schemas).map(([event, data]) => [event, frame(event, data)]))

const acks: Schemas = Object.fromEntries(
  Object.entries(acked).map((
    [event, data],
  ) => [`ack_${event}`, frame('ack', data).required({ ref: true }).describe(data.description!)]),
)

const { heartbeat } = frameData
const sent = {
  ...framesOf(frameData),
  heartbeat: frame('heartbeat', heartbeat).partial({ data: true }).describe(heartbeat.description!),
}
const heard = { ...framesOf(fromGateway), ...acks }

const pascal = (name: string) => name.replace(/(?:^|_)(\w)/g, (_, first) => first.toUpperCase())

const messagesOf = (schemas: Schemas, kind: 'Frame' | 'Event') =>
  Object.fromEntries(
    Object.keys(schemas).map((name) => [name, {
      name,
      payload: { $ref: `#/components/schemas/${pascal(name)}${kind}` },
    }]),
  )

function componentsOf(all: [Schemas, 'Frame' | 'Event'][]) {
  const { openAPIRegistry, getOpenAPI31Document } = new OpenAPIHono()
  for (const [schemas, kind] of all) {
    for (const [name, schema] of Object.entries(schemas)) {
      openAPIRegistry.register(`${pascal(name)}${kind}`, schema)
    }
  }
  const info = { title: '', version: '' }
  return getOpenAPI31Document({ openapi: '3.1.0', info }).components!.schemas
}

function operation(action: 'send' | 'receive', channel: string, names: string[], summary: string) {
  const messages = names.map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` }))
  return {
    action,
    channel: { $ref: `#/channels/${channel}` },
    summary,
    security: [{ $ref: '#/components/securitySchemes/bearer' }],
    messages,
  }
}

export function describeEvents() {
  const { host, protocol } = new URL(env.supabaseUrl)
  const server = (pathname: string, description: string) => ({
    host,
    pathname,
    protocol: protocol === 'https:' ? 'wss' : 'ws',
    description,
  })
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Chat events of the property marketplace of Kuwait',
      version: apiVersion,
      description:
        'As a client sees them. Take the events from Realtime, or from the gateway, which carries the ' +
        'same to clients that speak frames. Both deliver at most once: history, ' +
        '`GET /conversations/{id}/messages?afterSeq=`, is the truth.',
    },
    defaultContentType: 'application/json',
    servers: {
      gateway: server(
        '/functions/v1/chat',
        'Subprotocol `chat`, beside it `bearer.<token>`; or a first frame `auth` within 10 s.',
      ),
      realtime: server('/realtime/v1/websocket', 'Supabase Realtime, as its libraries speak it.'),
    },
    channels: {
      gateway: {
        address: '/functions/v1/chat',
        servers: [{ $ref: '#/servers/gateway' }],
        messages: messagesOf({ ...sent, ...heard }, 'Frame'),
      },
      account: {
        address: '{realtimeTopic}',
        servers: [{ $ref: '#/servers/realtime' }],
        parameters: {
          realtimeTopic: { description: 'From a session or `GET /auth/me`. Private.' },
        },
        messages: messagesOf(toAccount, 'Event'),
      },
      conversation: {
        address: '{liveTopic}',
        servers: [{ $ref: '#/servers/realtime' }],
        parameters: {
          liveTopic: {
            description: 'From a conversation. Private; presence under the key identityId.',
          },
        },
        messages: messagesOf(live, 'Event'),
      },
    },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The `accessToken` of a session.' },
      },
      schemas: componentsOf([
        [sent, 'Frame'],
        [heard, 'Frame'],
        [toAccount, 'Event'],
        [live, 'Event'],
      ]),
    },
    operations: {
      sendFrame: operation(
        'send',
        'gateway',
        Object.keys(sent),
        'Each is answered by ack or error.',
      ),
      receiveFrame: operation(
        'receive',
        'gateway',
        Object.keys(heard),
        'Events of the account and of joined conversations, and answers.',
      ),
      receiveEvent: operation(
        'receive',
        'account',
        Object.keys(toAccount),
        'Broadcasts on the channel of the account; each names the identity that it is for.',
      ),
      sendLive: operation(
        'send',
        'conversation',
        Object.keys(live),
        'To whom the conversation is with.',
      ),
      receiveLive: operation(
        'receive',
        'conversation',
        Object.keys(live),
        'Of whom the conversation is with.',
      ),
    },
  }
}
