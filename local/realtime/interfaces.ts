// What the parts of the stand-in know of one another, so that each can be read by itself.
import type { KeyRing } from '../config/signing-keys.ts'
import type { Stack } from '../config/stack.ts'
import type { Authorization } from './authorization.ts'
import type { Frame, Json, Version } from './frames.ts'
import type { Limits, Plan, Rate } from './limits.ts'
import type { ReconnectDelays, Tenant } from './tenant.ts'
import type { Identity } from './tokens.ts'
import type { Topics } from './topics.ts'

/** The platform's behaviour, which tests can change. Times are in milliseconds. */
export type RealtimeOptions = {
  plan: Plan
  /** Whether public channels are refused, as deploy configures a project. */
  privateOnly: boolean
  /** Slows down guessing. */
  failedJoinDelay: number
  /** The interval of the rate counters. */
  rateInterval: number
  /** Between the loss of the stream from the database and the next attempt. */
  reconnectDelays: ReconnectDelays
  /** Between the connection to the database and the partitions of realtime.messages. */
  partitionDelay: number
  /** How often an ended connection to the database is opened again by itself, while there are sockets. */
  connectionCheck: number
  /** How long a channel with replication_ready waits for the stream. */
  readyTimeout: number
  /** An extra delay of each join, or what it waits for. */
  joinDelay: () => number | Promise<number>
}

export type Realtime = RealtimeOptions & {
  stack: Stack
  keys: KeyRing
  limits: Limits
  topics: Topics
  authorization: Authorization
  tenant: Tenant
  connections: Set<OpenConnection>
  events: Rate
  joins: Rate
  presence: Rate
}

export type Join = {
  joinRef: string | null
  name: string
  private: boolean
  ack: boolean
  self: boolean
  presence: boolean
  presenceKey: string
  replicationReady: boolean
  replay?: unknown
  postgresChanges: Json[]
  token: string | undefined
}

/** A channel, as its connection knows it. */
export interface JoinedChannel {
  readonly name: string
  readonly joinRef: string | null
  receive(frame: Frame): void
  /** What it sends now is delivered after the answer to its join. */
  open(): void
  end(): void
}

/** A connection, as its channels and the server know it. */
export interface OpenConnection {
  readonly version: Version
  /** The caller for channels without a token of their own: the key's role. */
  readonly identity: Identity
  readonly headers: Json
  readonly channels: ReadonlyMap<string, JoinedChannel>
  /** Whether it counts as a connected user, as it does from its first join on. */
  counted: boolean
  readonly lastHeard: number
  /** Answers a frame. */
  reply(frame: Frame, status: 'ok' | 'error', response?: Json | string): void
  /** Sends an event of a channel to this client alone. */
  push(channel: JoinedChannel, event: string, payload: Json): void
  /** Sends data that is already encoded for this client; null is skipped. */
  send(data: string | Buffer | null): void
  /** Closes a channel and notifies the client. */
  closeChannel(channel: JoinedChannel): void
  /** Closes a channel that failed to handle a frame. */
  crash(channel: JoinedChannel): void
  close(code: number): void
}

/** The number of connections that have joined a topic. */
export const connectedUsers = ({ connections }: Realtime) =>
  [...connections].filter(({ counted }) => counted).length
