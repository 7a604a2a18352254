// Sends requests that arrive at the same moment, from chosen addresses, with raw headers.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import type { PoolClient } from 'pg'
import { variable } from '../../local/config/environment.ts'
import { baseUrl, checkReply, database, type Person, type Reply } from './client.ts'
import { pause, waitUntil } from './wait.ts'

export type RawRequest = {
  method?: string
  path: string
  /** Sent as JSON, unless it is text or bytes. */
  body?: unknown
  /** Pairs, so that a header can be repeated. */
  headers?: [name: string, value: string][]
  /** The client's address; a stack on this machine treats 127.0.0.2, .3 … as different clients. */
  from?: string
  base?: string
}

export const bearer = ({ accessToken }: Pick<Person, 'accessToken'>): [string, string] => [
  'Authorization',
  `Bearer ${accessToken}`,
]

/** Waits until `count` connections wait for locks of `holder`, directly or indirectly. */
export async function waitedFor(holder: PoolClient, count = 1): Promise<void> {
  const { rows: [{ pid }] } = await holder.query('select pg_backend_pid() as pid')
  await waitUntil(`${count} wait for it`, async () => {
    const { rows } = await database().query(
      `with recursive waiting as (
         select pid from pg_stat_activity where $1 = any (pg_blocking_pids(pid))
         union
         select behind.pid from pg_stat_activity as behind
         join waiting on waiting.pid = any (pg_blocking_pids(behind.pid))
       )
       select from waiting`,
      [pid],
    )
    return rows.length >= count
  })
}

export async function deadlocks(): Promise<number> {
  const folder = variable('LOCAL_STACK')
  if (folder) {
    const log = readFileSync(join(folder, 'logs', 'postgres.log'), 'utf8')
    return log.split('deadlock detected').length - 1
  }
  // A connection reports its counts after a second of work, or after ten idle seconds.
  await pause(11_000, 'time is the subject')
  const { rows } = await database().query(
    'select deadlocks::int from pg_stat_database where datname = current_database()',
  )
  return rows[0].deadlocks
}

export const untilLocked = (text: string, count = 1) =>
  waitUntil(`${text} waits for a lock`, async () => {
    const { rowCount } = await database().query(
      `select from pg_stat_activity
       where wait_event_type = 'Lock' and position($1 in query) > 0 and pid <> pg_backend_pid()`,
      [text],
    )
    return rowCount! >= count
  })

/** Opens all connections, sends all but the last byte of each request, then the last bytes together. */
export async function race(shots: RawRequest[]): Promise<Reply[]> {
  const loaded = await Promise.all(shots.map(load))
  for (const { fire } of loaded) fire()
  return await Promise.all(loaded.map(({ reply }) => reply))
}

export async function sendRaw(shot: RawRequest): Promise<Reply> {
  const [reply] = await race([shot])
  return reply!
}

async function load(shot: RawRequest) {
  const { method = shot.body === undefined ? 'GET' : 'POST', headers = [], from } = shot
  const url = new URL((shot.base ?? baseUrl) + shot.path)
  const options = {
    host: url.hostname,
    port: Number(url.port) || (url.protocol === 'https:' ? 443 : 80),
    ...(from && { localAddress: from }),
  }
  const secure = url.protocol === 'https:'
  const socket: Socket = secure
    ? connectTls({ ...options, servername: url.hostname })
    : connect(options)
  await once(socket, secure ? 'secureConnect' : 'connect')
  socket.setNoDelay(true)

  const body = bytesOf(shot.body)
  const named = (header: string) => headers.some(([name]) => name.toLowerCase() === header)
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    ...(named('host') ? [] : [`Host: ${url.host}`]),
    'Connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(shot.body === undefined || named('content-type') ? [] : ['Content-Type: application/json']),
    ...(shot.body === undefined ? [] : [`Content-Length: ${body.length}`]),
  ]
  const bytes = Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body])
  const reply = read(socket)
  await new Promise((resolve) => socket.write(bytes.subarray(0, -1), resolve))
  return {
    fire: () => socket.write(bytes.subarray(-1)),
    reply: reply.then(async (answer) => {
      // Responses that the server sends before the facade runs (431) are not in the OpenAPI description.
      if (answer.headers.has('x-request-id')) await checkReply(method, shot.path, answer, shot.body)
      return answer
    }),
  }
}

function bytesOf(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body) ?? '')
}

async function read(socket: Socket): Promise<Reply> {
  const parts: Buffer[] = []
  // A server that refuses early resets a connection that is still being written to.
  socket.on('error', () => {})
  socket.on('data', (part: Buffer) => parts.push(part))
  await new Promise((resolve) => socket.once('close', resolve))
  const bytes = Buffer.concat(parts)
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as never))
  const rest = bytes.subarray(end + 4)
  const text = (headers.get('transfer-encoding') === 'chunked' ? joined(rest) : rest).toString()
  const isJson = headers.get('content-type')?.startsWith('application/json')
  return {
    // 0 means that the connection closed without a response.
    status: Number(first.split(' ')[1]) || 0,
    body: text && isJson ? JSON.parse(text) : text || null,
    headers,
  }
}

function joined(bytes: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0;;) {
    const start = bytes.indexOf('\r\n', at) + 2
    const size = parseInt(bytes.subarray(at, start).toString(), 16)
    if (!size) return Buffer.concat(chunks)
    chunks.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}
