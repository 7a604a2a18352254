import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Refusal } from './user-error.ts'

/** The folder of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url))

export type Ports = Record<
  | 'gateway'
  | 'database'
  | 'studio'
  | 'inbox'
  | 'auth'
  | 'dataApi'
  | 'realtime'
  | 'storage'
  | 'chat1'
  | 'chat2',
  number
>

/** What can be chosen for one stack, all of it by environment variables. */
export type Settings = {
  dataDir: string
  ports: Ports
  seed: 'demo' | 'none'
  /** False lifts the limits on how often something may be done. */
  rates: boolean
  /** bcrypt's cost: Auth's own, or the least there is. */
  hashCost: number
  /** Postgres counts the calls of each plpgsql function, for suites (track_functions). */
  countCalls: boolean
  /** Processes of the chat gateway; with none its sockets are the edge function's. */
  gateways: number
  /** Seconds that a worker of an edge function lives; 0 is without end. */
  workerLife: number
  /** The folder of the real Storage server, built, that runs in place of the stand-in. */
  realStorage: string | undefined
  /** The binary of the real Auth server, likewise. */
  realAuth: string | undefined
}

/**
 * Reads PORT, LOCAL_DATA, SEED, RATES, HASHING, CALLS, GATEWAYS, WORKER_LIFE, REAL_STORAGE and
 * REAL_AUTH; a wrong value is named, not guessed at.
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  for (const name of ['ENVIRONMENT', 'NODE_ENV']) {
    if (env[name]?.trim().toLowerCase() === 'production') {
      throw new Refusal(
        `The embedded stack is for development and ${name} says production: unset ${name} to start ` +
          'it here, or deploy to a Supabase project.',
      )
    }
  }
  const port = Number(env.PORT || 54321)
  if (!Number.isInteger(port) || port < 1024 || port > 65_500) {
    throw new Refusal('PORT must be a whole number from 1024 to 65500: the gateway listens there.')
  }
  const seed = env.SEED || 'demo'
  if (seed !== 'demo' && seed !== 'none') throw new Refusal('SEED must be demo or none.')
  const rates = env.RATES || 'on'
  if (rates !== 'on' && rates !== 'off') throw new Refusal('RATES must be on or off.')
  const hashing = env.HASHING || 'usual'
  if (hashing !== 'usual' && hashing !== 'quick') {
    throw new Refusal('HASHING must be usual or quick.')
  }
  const calls = env.CALLS || 'uncounted'
  if (calls !== 'uncounted' && calls !== 'counted') {
    throw new Refusal('CALLS must be uncounted or counted.')
  }
  const gateways = Number(env.GATEWAYS || 1)
  if (![0, 1, 2].includes(gateways)) throw new Refusal('GATEWAYS must be 0, 1 or 2.')
  // As on the smallest plan.
  const workerLife = Number(env.WORKER_LIFE || 150)
  if (!(workerLife >= 0 && workerLife < 1_000_000)) {
    throw new Refusal('WORKER_LIFE must be a number of seconds, or 0 for no end.')
  }
  return {
    dataDir: resolve(root, env.LOCAL_DATA || '.local'),
    ports: {
      gateway: port,
      database: port + 1,
      studio: port + 2,
      inbox: port + 3,
      auth: port + 4,
      dataApi: port + 5,
      realtime: port + 6,
      storage: port + 7,
      chat1: port + 8,
      chat2: port + 9,
    },
    seed,
    rates: rates === 'on',
    hashCost: hashing === 'quick' ? 4 : 10,
    countCalls: calls === 'counted',
    gateways,
    workerLife,
    realStorage: env.REAL_STORAGE ? resolve(env.REAL_STORAGE) : undefined,
    realAuth: env.REAL_AUTH ? resolve(env.REAL_AUTH) : undefined,
  }
}
