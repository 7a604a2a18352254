import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { variable, type VariableName } from './environment.ts'
import { UserError } from './user-error.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

export type Ports = Record<
  | 'api'
  | 'database'
  | 'studio'
  | 'inbox'
  | 'auth'
  | 'dataApi'
  | 'realtime'
  | 'storage'
  | 'chat1'
  | 'chat2'
  | 'replica'
  | 'lateDatabase'
  | 'realtimeNode'
  | 'realtimeCalls',
  number
>

export type Settings = {
  dataDir: string
  ports: Ports
  /** The address at which phones reach the API, in addition to the loopback address. */
  host: string | undefined
  seed: 'demo' | 'none'
  rates: boolean
  /** The bcrypt cost: 10 as in Auth, or 4, which is the minimum. */
  hashCost: number
  /** The delay before Realtime rejects a join: 5 s, which slows down guessing, or 0.2 s. */
  refusedJoins: 'slow' | 'quick'
  /** Whether Postgres counts the calls of each plpgsql function (track_functions), for the test suite. */
  countCalls: boolean
  /** The number of chat gateway processes. With 0, the edge function `chat` serves the sockets. */
  gateways: number
  /** Whether the database has a read replica. A synchronous replica never lags. */
  replica: 'none' | 'asynchronous' | 'synchronous'
  /** The lifetime of an edge function worker in seconds, or 0 for no limit. */
  workerLife: number
  /** The seed for randomly delaying some responses. Without a seed, no response is delayed. */
  lateSeed: number | undefined
  realStorage: string | undefined
  realAuth: string | undefined
  realRealtime: string | undefined
  realDataApi: string | undefined
  /** Environment variables that the real Auth needs to reach Google, Apple and Turnstile. */
  realAuthOutside: { HTTPS_PROXY?: string; SSL_CERT_FILE?: string }
}

export const portTaken = (port: number, name: string) =>
  new UserError(
    `Port ${port} (${name}) is taken by another program: end that one, or choose other ports with ` +
      'PORT=<number> npm start. A stack has fourteen, from that number on.',
  )

/** Reads the settings. An invalid value throws a UserError; no default silently replaces it. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const given = (name: VariableName) => variable(name, env)
  for (const name of ['ENVIRONMENT', 'NODE_ENV'] as const) {
    if (given(name)?.trim().toLowerCase() === 'production') {
      throw new UserError(
        `The embedded stack is for development and ${name} says production: unset ${name} to start ` +
          'it here, or deploy to a Supabase project.',
      )
    }
  }
  const port = Number(given('PORT'))
  if (!Number.isInteger(port) || port < 1024 || port > 65_500) {
    throw new UserError(
      'PORT must be a whole number from 1024 to 65500: the API listens there.',
    )
  }
  const host = given('HOST')
  if (host && !/^(?!0+(\.0+)*$)[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) {
    throw new UserError(
      'HOST must be the address or the name by which phones reach this machine, as 192.168.1.20.',
    )
  }
  const seed = given('SEED')
  if (seed !== 'demo' && seed !== 'none') throw new UserError('SEED must be demo or none.')
  const rates = given('RATES')
  if (rates !== 'on' && rates !== 'off') throw new UserError('RATES must be on or off.')
  const hashing = given('HASHING') ?? 'default'
  if (hashing !== 'default' && hashing !== 'quick') {
    throw new UserError('HASHING must be default or quick.')
  }
  const refusedJoins = given('REFUSED_JOINS')
  if (refusedJoins !== 'slow' && refusedJoins !== 'quick') {
    throw new UserError('REFUSED_JOINS must be slow or quick.')
  }
  const calls = given('CALLS')
  if (calls !== 'uncounted' && calls !== 'counted') {
    throw new UserError('CALLS must be uncounted or counted.')
  }
  const gateways = Number(given('GATEWAYS'))
  if (![0, 1, 2].includes(gateways)) throw new UserError('GATEWAYS must be 0, 1 or 2.')
  const replicas = { '0': 'none', '1': 'asynchronous', synchronous: 'synchronous' } as const
  const replica = replicas[given('REPLICAS') as keyof typeof replicas]
  if (!replica) throw new UserError('REPLICAS must be 0, 1 or synchronous.')
  const workerLife = Number(given('WORKER_LIFE'))
  if (!(workerLife >= 0 && workerLife < 1_000_000)) {
    throw new UserError('WORKER_LIFE must be a number of seconds, or 0 for no end.')
  }
  if (!['1', '2'].includes(given('REFRESH_TOKENS')!)) {
    throw new UserError('REFRESH_TOKENS must be 1 or 2.')
  }
  const late = given('LATE_ANSWERS')
  if (late !== undefined && !/^\d{1,9}$/.test(late)) {
    throw new UserError('LATE_ANSWERS must be a whole number, the seed of what is late.')
  }
  const realStorage = given('REAL_STORAGE')
  const realAuth = given('REAL_AUTH')
  const realRealtime = given('REAL_REALTIME')
  const realDataApi = given('REAL_DATA_API')
  return {
    dataDir: resolve(root, given('LOCAL_DATA')!),
    ports: {
      api: port,
      database: port + 1,
      studio: port + 2,
      inbox: port + 3,
      auth: port + 4,
      dataApi: port + 5,
      realtime: port + 6,
      storage: port + 7,
      chat1: port + 8,
      chat2: port + 9,
      replica: port + 10,
      lateDatabase: port + 11,
      realtimeNode: port + 12,
      realtimeCalls: port + 13,
    },
    host: host === 'localhost' || host === '127.0.0.1' ? undefined : host,
    seed,
    rates: rates === 'on',
    hashCost: hashing === 'quick' ? 4 : 10,
    refusedJoins,
    countCalls: calls === 'counted',
    gateways,
    replica,
    workerLife,
    lateSeed: late === undefined ? undefined : Number(late),
    realStorage: realStorage && resolve(realStorage),
    realAuth: realAuth && resolve(realAuth),
    realRealtime: realRealtime && resolve(realRealtime),
    realDataApi: realDataApi && resolve(realDataApi),
    realAuthOutside: {
      HTTPS_PROXY: given('REAL_AUTH_PROXY'),
      SSL_CERT_FILE: given('REAL_AUTH_CA'),
    },
  }
}
