import { setTimeout as sleep } from 'node:timers/promises'
import type { Extension } from './authorization.ts'
import { Channel, unreadable } from './channel.ts'
import { type Frame, type Json, Message } from './frames.ts'
import { connectedUsers, type Join, type OpenConnection, type Realtime } from './interfaces.ts'
import { identify, type Identity, tokenProblem } from './tokens.ts'

/** A rejected join. If `fatal` is true, the whole connection ends. */
export class JoinError extends Error {
  readonly fatal: boolean

  constructor(code: string, text: string, fatal = false) {
    super(code ? `${code}: ${text}` : text)
    this.fatal = fatal
  }

  static of(error: Error): JoinError {
    if (error instanceof JoinError) return error
    console.error(`join: ${error.stack}`)
    return new JoinError('UnknownErrorOnChannel', error.message)
  }
}

const object = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Json : {}

/** Some clients send booleans as text. */
const flag = (value: unknown) => value === true || value === 'true'

export function readJoin({ topic, joinRef, payload }: Frame): Join {
  const config = object(payload.config)
  const broadcast = object(config.broadcast)
  const presence = object(config.presence)
  const token = payload.access_token ?? payload.user_token
  const changes = Array.isArray(config.postgres_changes) ? config.postgres_changes : []
  return {
    joinRef,
    name: topic.slice('realtime:'.length),
    private: flag(config.private),
    ack: flag(broadcast.ack),
    self: flag(broadcast.self),
    presence: flag(presence.enabled),
    presenceKey: typeof presence.key === 'string' ? presence.key : '',
    // Any truthy value counts, because unlike the other flags it is not parsed as text.
    replicationReady: Boolean(broadcast.replication_ready),
    replay: broadcast.replay,
    postgresChanges: changes.map(object),
    token: typeof token === 'string' && !token.startsWith('sb_') ? token : undefined,
  }
}

export async function join(
  realtime: Realtime,
  connection: OpenConnection,
  request: Join,
): Promise<Channel> {
  if (request.name === '') throw new JoinError('TopicNameRequired', 'You must provide a topic name')
  if (realtime.privateOnly && !request.private) {
    throw new JoinError('PrivateOnly', 'This project only allows private channels')
  }
  checkLimits(realtime, connection)
  const identity = await identityOf(realtime, connection, request)
  // The database must be reachable, but a join does not wait for the replication stream.
  if (!await realtime.tenant.connect()) {
    const text = 'Realtime was unable to connect to the project database'
    throw new JoinError('UnableToConnectToProject', text)
  }
  await sleep(await realtime.joinDelay())
  const reads = request.private ? await readsOf(realtime, connection, request, identity) : []
  const channel = new Channel(realtime, connection, request, { identity, reads })
  try {
    await findReplay(realtime, channel, request)
  } catch (error) {
    channel.end()
    throw error
  }
  connection.counted = true
  return channel
}

function checkLimits(realtime: Realtime, { channels, counted }: OpenConnection) {
  const { joins, limits } = realtime
  if (!counted && connectedUsers(realtime) >= limits.connections) {
    throw new JoinError('ConnectionRateLimitReached', 'Too many connected users')
  }
  if (joins.triggered) {
    throw new JoinError('ClientJoinRateLimitReached', 'Too many joins per second', true)
  }
  joins.add()
  if (channels.size >= limits.channelsPerConnection) {
    throw new JoinError('ChannelRateLimitReached', 'Too many channels')
  }
}

async function identityOf(
  { keys }: Realtime,
  connection: OpenConnection,
  { token }: Join,
): Promise<Identity> {
  if (token === undefined) return connection.identity
  try {
    return await identify(keys, token)
  } catch (error) {
    const { code, text } = tokenProblem(error)
    throw new JoinError(code, text)
  }
}

async function readsOf(
  { authorization }: Realtime,
  { headers }: OpenConnection,
  { name, presence }: Join,
  identity: Identity,
): Promise<Extension[]> {
  const extensions: Extension[] = presence ? ['broadcast', 'presence'] : ['broadcast']
  const unauthorized = () => new JoinError('Unauthorized', unreadable(name))
  try {
    const seen = await authorization.readable(name, { ...identity, headers }, extensions)
    if (seen.length > 0) return seen
  } catch (error) {
    throw joinErrorOf(error as Error & { code?: string }, unauthorized)
  }
  throw unauthorized()
}

function joinErrorOf(error: Error & { code?: string }, unauthorized: () => JoinError): JoinError {
  const { code = '', message } = error
  console.error(`join: ${message}`)
  if (code === '57014') return new JoinError('QueryCanceled', message)
  if (code === '23514') {
    const text = 'Realtime was unable to find the expected messages partition'
    return new JoinError('MissingPartition', text)
  }
  if (code === '53300') {
    const text = "Database can't accept more connections, Realtime won't connect"
    return new JoinError('DatabaseLackOfConnections', text)
  }
  // An error with an SQLSTATE means that a policy failed, which denies access. Otherwise the connection
  // failed.
  if (/^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code)) return unauthorized()
  return new JoinError('', 'Realtime was unable to connect to the project database')
}

const maxReplayed = 25

/** Finds earlier messages for the channel. Meanwhile, new messages wait in the connection's queue. */
async function findReplay({ authorization }: Realtime, channel: Channel, { name, replay }: Join) {
  if (replay === undefined) return
  const wrong = (text: string) => new JoinError('UnableToReplayMessages', text)
  if (!channel.private) throw wrong('Replay is not allowed for public channels')
  if (!channel.reads.has('broadcast')) throw new JoinError('Unauthorized', unreadable(name))
  if (replay !== object(replay)) return
  const { since, limit } = object(replay)
  const most = limit ?? maxReplayed
  if (!Number.isInteger(since) || !Number.isInteger(most)) {
    throw wrong('Replay params are not valid')
  }
  const clamped = Math.max(1, Math.min(most as number, maxReplayed))
  const rows = await authorization.sent(name, since as number, clamped).catch(() => {
    throw wrong('Realtime was unable to replay messages')
  })
  channel.holdReplay(rows.map(({ id, event, payload, binary_payload: bytes }) => {
    const content = bytes ? { event, json: false, bytes } : { event, payload, type: 'broadcast' }
    return new Message(`realtime:${name}`, 'broadcast', content, { id, replayed: true })
  }))
}
