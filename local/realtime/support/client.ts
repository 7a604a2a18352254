// Starts the Realtime stand-in on its own database, in which a test can create any policies. Tests connect
// with supabase-js, or with a client that sends single frames.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import pg from 'pg'
import { WebSocket } from 'ws'
import { variable } from '../../config/environment.ts'
import { listen } from '../../processes/lifecycle.ts'
import { forward } from '../../http/forward.ts'
import { openKeys } from '../../config/signing-keys.ts'
import type { RealtimeOptions } from '../interfaces.ts'
import { openRealtime } from '../server.ts'
import { readStack, type Stack } from '../../config/stack.ts'
import { projectUrl } from '../../../test/support/client.ts'
import { waitUntil } from '../../../test/support/wait.ts'

// deno-lint-ignore no-explicit-any
export type Json = any

export type TestRealtime = Awaited<ReturnType<typeof startRealtime>>

const schema = `
  create table public.members (
    sub text not null, topic text not null, reads boolean not null default true,
    writes boolean not null default true, sees boolean not null default true
  );
  create function public.is_member(extension text, wants text) returns boolean
    language sql stable security definer set search_path = ''
    as $$
      select exists (
        select from public.members
        where members.sub = current_setting('request.jwt.claims', true)::jsonb ->> 'sub'
          and members.topic = realtime.topic()
          and case
            when is_member.wants = 'write' then members.writes
            when is_member.extension = 'presence' then members.sees
            else members.reads
          end
      )
    $$;
  create policy "members read" on realtime.messages for select to authenticated
    using (public.is_member(extension, 'read'));
  create policy "members write" on realtime.messages for insert to authenticated
    with check (public.is_member(extension, 'write'));
`

const stackOf = (rates: boolean) =>
  readStack({
    ...process.env,
    PORT: new URL(projectUrl).port,
    LOCAL_DATA: variable('LOCAL_STACK'),
    RATES: rates ? 'on' : 'off',
    NODE_ENV: 'test',
  })

async function opened(stack: Stack, options: Partial<RealtimeOptions>) {
  const keys = openKeys(stack.dataDir, stack.issuer)
  const realtime = openRealtime(stack, keys, options)
  const { server, tenant } = realtime
  await listen(server, 0)
  await tenant.connect()
  await waitUntil('the stream is connected', () => tenant.streaming)
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, keys, ...realtime }
}

/** Starts a second Realtime server for the project, for tests that break it. Returns settings to reach it. */
export async function startOtherRealtime(options: Partial<RealtimeOptions> = {}) {
  const stack = stackOf(false)
  const { url, server, keys: _, close: stop, ...realtime } = await opened(stack, options)
  server.removeAllListeners('request').on(
    'request',
    (request, response) =>
      forward(request, response, {
        port: stack.ports.api,
        path: request.url!,
        peer: '127.0.0.1',
        unavailable: () => response.writeHead(503).end(),
      }),
  )
  const settings = {
    SUPABASE_URL: url,
    AUTH_ISSUER: stack.issuer,
    API_URL: `${stack.url}/functions/v1/api`,
    FILES_URL: `${stack.url}/storage/v1/object/public`,
  }
  return { url, settings, stop, ...realtime }
}

export async function dropPartitions(database: pg.Pool): Promise<void> {
  const { rows } = await database.query(
    `select inhrelid::regclass as partition from pg_inherits
     where inhparent = 'realtime.messages'::regclass`,
  )
  for (const { partition } of rows) await database.query(`drop table ${partition}`)
}

/** Starts Realtime on a new database. With `rates`, it enforces the limits of its plan. */
export async function startRealtime(
  { rates = false, ...options }: { rates?: boolean } & Partial<RealtimeOptions> = {},
) {
  const stack = stackOf(rates)
  const name = `realtime_${randomUUID().replaceAll('-', '')}`
  const urlOf = (role: string) => stack.databaseUrl(role).replace(/postgres$/, name)
  const platform = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
  await platform.connect()
  await platform.query(`create database ${name}`)
  const database = new pg.Pool({ connectionString: urlOf('supabase_admin'), max: 5 })
  database.on('error', () => {})
  await database.query(schema)

  const { url, keys, tenant, disconnectAll, close } = await opened({
    ...stack,
    databaseUrl: urlOf,
  }, {
    privateOnly: false,
    reconnectDelays: { min: 100, max: 100 },
    failedJoinDelay: 100,
    ...options,
  })
  const { publishableKey, secretKey } = stack.secrets
  const clients: SupabaseClient[] = []
  const send = (topic: string, event: string, payload: Json, isPrivate = true) =>
    database.query('select realtime.send($1::jsonb, $2, $3, $4)', [
      JSON.stringify(payload),
      event,
      topic,
      isPrivate,
    ])

  return {
    url,
    publishableKey,
    secretKey,
    tenant,
    disconnectAll,
    database,
    query: (text: string, values?: unknown[]) => database.query(text, values),
    token: (sub: string, claims: Json = {}) => {
      const now = Math.floor(Date.now() / 1000)
      return keys.sign({
        iss: stack.issuer,
        aud: 'authenticated',
        role: 'authenticated',
        exp: now + 3600,
        iat: now,
        sub,
        ...claims,
      })
    },
    member: (topic: string, sub: string, rights: { [right: string]: boolean } = {}) => {
      const { reads = true, writes = true, presence = true } = rights
      return database.query('insert into public.members values ($1, $2, $3, $4, $5)', [
        sub,
        topic,
        reads,
        writes,
        presence,
      ])
    },
    send,
    /** Waits until Realtime has received everything that the database has sent so far. */
    taken: async () => {
      const { rows: [{ lsn }] } = await database.query('select pg_current_wal_insert_lsn() as lsn')
      await send(randomUUID(), 'later', {})
      await waitUntil('it is taken', async () => {
        const { rows: [slot] } = await database.query(
          `select bool_and(confirmed_flush_lsn > $1) as taken from pg_replication_slots
           where database = current_database()`,
          [lsn],
        )
        return slot.taken
      })
    },
    client: (token?: string, options: Json = {}): SupabaseClient => {
      const client = createClient(url, publishableKey, {
        realtime: options,
        ...(token && { accessToken: () => Promise.resolve(token) }),
      })
      clients.push(client)
      return client
    },
    raw: (vsn = '2.0.0', query = `apikey=${publishableKey}&vsn=${vsn}`) =>
      openRaw(`${url}/realtime/v1/websocket?${query}`.replace('http', 'ws')),
    stop: async () => {
      for (const client of clients) await client.realtime.disconnect()
      await close()
      await database.end()
      // Postgres takes a moment to notice that the replication slot is no longer in use.
      const drop = () => platform.query(`drop database ${name} with (force)`).then(() => true)
      await waitUntil('the database is dropped', drop)
      await platform.end()
    },
  }
}

export type Raw = Awaited<ReturnType<typeof openRaw>>

/** Opens a WebSocket and collects its frames. Binary frames are not decoded. */
export async function openRaw(url: string) {
  const socket = new WebSocket(url)
  const frames: Json[] = []
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  socket.on('message', (data, binary) => frames.push(binary ? data : JSON.parse(data.toString())))
  await once(socket, 'open')
  socket.on('error', () => {})
  let refs = 0
  const send = (topic: string, event: string, payload: Json = {}, joinRef: string | null = '1') => {
    const ref = String(++refs + 100)
    socket.send(JSON.stringify([joinRef, ref, topic, event, payload]))
    return ref
  }
  /** Waits for a matching frame and returns it, as [joinRef, ref, topic, event, payload]. */
  const find = async (what: string, fits: (frame: Json) => boolean) => {
    await waitUntil(what, () => frames.some(fits))
    return frames.find(fits)
  }
  const answerTo = async (ref: string) =>
    (await find(`the answer to ${ref}`, (frame) => frame[1] === ref))[4]
  /** Waits for a pong, which comes only after everything written to this socket has arrived. */
  const arrived = async () => {
    socket.ping()
    await once(socket, 'pong')
  }
  return {
    socket,
    frames,
    closed,
    send,
    find,
    answerTo,
    arrived,
    join: (topic: string, config: Json = {}, more: Json = {}, joinRef = '1') =>
      answerTo(send(`realtime:${topic}`, 'phx_join', { config, ...more }, joinRef)),
    /** Returns the payloads of received events of a topic, binary JSON broadcasts included. */
    events: (topic: string, event: string) =>
      frames.map((frame) => Buffer.isBuffer(frame) ? inText(frame) : frame)
        .filter((frame) => frame[2] === `realtime:${topic}` && frame[3] === event)
        .map((frame) => frame[4]),
    close: () => socket.close(),
  }
}

export function readBroadcast(frame: Buffer) {
  const [kind, topicLength, eventLength, metaLength, encoding] = frame
  let at = 5
  const part = (length: number) => frame.subarray(at, at += length).toString()
  const [topic, event, meta] = [topicLength!, eventLength!, metaLength!].map(part)
  return { kind, topic, event, meta: meta!, json: encoding === 1, payload: frame.subarray(at) }
}

/** Converts a binary broadcast to the array of a text frame. If it is not JSON, the array is empty. */
function inText(frame: Buffer): Json {
  const { topic, event, meta, json, payload } = readBroadcast(frame)
  if (!json) return []
  let content: Json
  try {
    content = JSON.parse(payload.toString())
  } catch {
    return []
  }
  const message = { type: 'broadcast', event, payload: content }
  return [null, null, topic, 'broadcast', meta ? { ...message, meta: JSON.parse(meta) } : message]
}

export function subscribed(channel: { subscribe: Json }, timeout?: number) {
  return new Promise<{ status: string; reason: string }>((resolve) => {
    channel.subscribe(
      (status: string, error?: Error) => resolve({ status, reason: error?.message ?? '' }),
      timeout,
    )
  })
}

export const sendToken = (channel: Json, access_token: string) =>
  channel.channelAdapter.push('access_token', { access_token })

/** How long supabase-js waits for a reply, in milliseconds: longer than the slowest machine needs. */
const answerTime = 240_000

export async function joined(
  realtime: TestRealtime,
  topic: string,
  { vsn, rights, config }: Json = {},
) {
  const sub = randomUUID()
  await realtime.member(topic, sub, rights)
  const token = await realtime.token(sub)
  const client = realtime.client(token, { timeout: answerTime, ...(vsn && { vsn }) })
  await client.realtime.setAuth()
  const channel = client.channel(topic, { config: { private: true, ...config } })
  const received: Json[] = []
  const states: string[] = []
  channel.on('broadcast', { event: '*' }, (message) => received.push(message))
  channel.on('system', {}, (message: Json) => received.push({ system: message }))
  const { status } = await new Promise<{ status: string }>((resolve) =>
    channel.subscribe((status) => {
      states.push(status)
      resolve({ status })
    })
  )
  if (status !== 'SUBSCRIBED') throw new Error(`${topic}: ${status}`)
  return { sub, token, client, channel, received, states }
}

export const payloads = (received: Json[]) => received.map(({ payload }) => payload)
