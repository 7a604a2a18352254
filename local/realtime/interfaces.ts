// The interfaces between the parts of the stand-in, so that each part can be read by itself.
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
  /** Whether public channels are rejected, as in a deployed project. */
  privateOnly: boolean
  failedJoinDelay: number
  rateInterval: number
  /** The delays before attempts to restart a lost stream from the database. */
  reconnectDelays: ReconnectDelays
  /** The delay between connecting to the database and creating the partitions of realtime.messages. */
  partitionDelay: number
  /** While there are sockets, a lost database connection is reopened at this interval. */
  connectionCheck: number
  /** How long a channel with replication_ready waits for the stream. */
  readyTimeout: number
  /** Returns an extra delay for a join, or a promise of the delay. */
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

export interface JoinedChannel {
  readonly name: string
  readonly joinRef: string | null
  receive(frame: Frame): void
  /** Sends the messages that follow the reply to the join. */
  open(): void
  end(): void
}

export interface OpenConnection {
  readonly version: Version
  /** The caller for channels that have no token of their own: the role of the API key. */
  readonly identity: Identity
  readonly headers: Json
  readonly channels: ReadonlyMap<string, JoinedChannel>
  /** True after the connection's first join. It then counts as a connected user. */
  counted: boolean
  readonly lastHeard: number
  reply(frame: Frame, status: 'ok' | 'error', response?: Json | string): void
  /** Sends an event of a channel to this client alone. */
  push(channel: JoinedChannel, event: string, payload: Json): void
  /** Sends data that is already encoded for this client; null is skipped. */
  send(data: string | Buffer | null): void
  closeChannel(channel: JoinedChannel): void
  crash(channel: JoinedChannel): void
  close(code: number): void
}

export const connectedUsers = ({ connections }: Realtime) =>
  [...connections].filter(({ counted }) => counted).length
