// Connects to the project's database through the pooler in session mode, because it is reachable by IPv4.
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { hasOtherBaseline } from '../schema/baseline.ts'
import { databaseAt } from '../schema/connection.ts'
import { UserError } from '../config/user-error.ts'
import { errorLines, remoteFlag, retryOnLockTimeout, supabase } from '../schema/cli.ts'
import type { DeployInput } from './input.ts'
import type { Management } from './management.ts'

type Pooler = { database_type: string; connection_string: string }

/** The password is kept out of the URL, because URLs are passed on command lines, which others can see. */
type Login = { url: string; password: string; temporary?: boolean }

export type Database = {
  client: pg.Client
  /** Applies pending migrations and retries if a lock times out. */
  push: () => Promise<void>
  /**
   * Sets a new password for the facade. It is committed only after `store` has stored the database URL, and
   * then tested by logging in. If a deployment is interrupted in between, the next one detects it
   * (isFacadeShut).
   */
  openFacade: (store: (url: string) => Promise<void>) => Promise<void>
  close: () => Promise<void>
}

/** Connects, either read-only or holding an advisory lock that prevents concurrent deployments. */
export async function openDatabase(
  input: DeployInput,
  management: Management,
  redact: (secret: string) => void,
  readOnly = false,
): Promise<Database> {
  const poolers = await management.get<Pooler[]>('/config/database/pooler')
  const primary = poolers.find(({ database_type: type }) => type === 'PRIMARY')
  if (!primary) throw new UserError('The project has no pooler, which the functions need.')
  const pooler = new URL(primary.connection_string.replace(/:\[[^\]]*\]@/, '@'))
  // The pooler identifies a project by the suffix of the role's name.
  const suffix = pooler.username.endsWith(`.${input.ref}`) ? `.${input.ref}` : ''
  const at = (role: string, port = pooler.port) => {
    const url = new URL(pooler)
    url.username = role + suffix
    url.port = port
    return url
  }
  const sessions = pooler.port === '6543' ? '5432' : pooler.port

  let last: Login & { until: number } | undefined

  async function login(): Promise<Login> {
    if (input.databasePassword) {
      return { url: at('postgres', sessions).href, password: input.databasePassword }
    }
    if (last && Date.now() < last.until) return last
    const temporary = await management.send<
      { role: string; password: string; ttl_seconds: number }
    >(
      'POST',
      '/cli/login-role',
      { read_only: false },
    )
    redact(temporary.password)
    const url = at(temporary.role, sessions).href
    // A role is reused during the first half of its lifetime, so that each command has the other half.
    last = {
      url,
      password: temporary.password,
      temporary: true,
      until: Date.now() + temporary.ttl_seconds * 500,
    }
    return last
  }

  const client = await connect(await login())
  if (readOnly) await client.query('set session characteristics as transaction read only')
  else {
    const { rows } = await client.query(`select pg_try_advisory_lock(hashtext('deploy')) as alone`)
    if (!rows[0].alone) {
      await client.end()
      throw new UserError('Another deployment to this project is in progress.')
    }
  }
  return {
    client,
    push: async () => {
      if (await hasOtherBaseline(client)) {
        throw new UserError(
          'This database was made by an earlier baseline, which is made anew with every change until ' +
            '1.0.0: begin with an empty database.',
        )
      }
      const output = await retryOnLockTimeout(async () => {
        const temporary = await login()
        // Waits (connect retries) until the pooler accepts the new role, so that the CLI does not fail.
        await (await connect(temporary)).end()
        const own = { PGPASSWORD: temporary.password }
        return await supabase(['db', 'push', remoteFlag(temporary.url), '--yes'], own)
      })
      if (output.code !== 0) throw new UserError(errorLines(output))
    },
    openFacade: async (store) => {
      const password = randomBytes(24).toString('base64url')
      redact(password)
      await client.query(`comment on role facade is '${markOf('')}'`)
      await client.query('begin')
      await client.query(`alter role facade password '${scramVerifier(password)}'`)
      const url = at('facade')
      url.password = password
      await client.query(`comment on role facade is '${markOf(sha256(url.href))}'`)
      await store(url.href)
      await client.query('commit')
      url.password = ''
      // The pooler may use the previous password for a moment longer, so the login is retried.
      await (await connect({ url: url.href, password, temporary: true }, false)).end()
    },
    close: () => client.end(),
  }
}

/**
 * Connects and, if `asPostgres`, switches to role postgres, which owns the migrations' objects. Retries for a
 * minute, because the pooler may not know a new role yet. The pauses grow, because repeated failures make the
 * pooler block the project. A password that the user gave is not retried once it has been rejected.
 */
async function connect(
  { url, password, temporary }: Login,
  asPostgres = true,
): Promise<pg.Client> {
  for (let pause = 3000, waited = 0;; waited += pause, pause *= 1.5) {
    const client = new pg.Client({
      ...databaseAt(url),
      password,
      connectionTimeoutMillis: 10_000,
      query_timeout: 30_000,
    })
    // If the connection breaks later, its query fails, so the event itself can be ignored.
    client.on('error', () => {})
    try {
      await client.connect()
      if (asPostgres) await client.query('set session role postgres')
      return client
    } catch (error) {
      await client.end().catch(() => {})
      const refused = /^28/.test((error as { code?: string }).code ?? '')
      if (waited > 60_000 || refused && !temporary) {
        throw new UserError(`Could not connect to the database: ${(error as Error).message}.`)
      }
      await sleep(pause)
    }
  }
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** The comment on role facade: the hash of the FACADE_DB_URL that contains the role's current password. */
const markOf = (hash: string) => `FACADE_DB_URL ${hash}`

/** Whether FACADE_DB_URL has a different password than the role, as after an interrupted deployment. */
export async function isFacadeShut(
  client: pg.Client,
  stored: string | undefined,
): Promise<boolean> {
  const { rows } = await client.query<{ mark: string }>(
    `select shobj_description(oid, 'pg_authid') as mark from pg_roles where rolname = 'facade'`,
  )
  const mark = rows[0]?.mark
  return Boolean(stored && mark?.startsWith(markOf('')) && mark !== markOf(stored))
}

/** Returns the version of the refresh tokens. Version 1 stores them in rows, version 2 a key per session. */
export async function refreshTokens(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ token: string | null; key: string | null }>(
    `select sessions.refresh_token_hmac_key as key,
       (select token from auth.refresh_tokens where session_id = sessions.id order by id desc limit 1)
     from auth.sessions order by created_at desc limit 1`,
  )
  if (!rows[0]) return 'not known until somebody has signed in'
  const { token, key } = rows[0]
  // In version 1, the row contains the token itself, which has 12 characters.
  return `version ${key || (token?.length ?? 13) > 12 ? 2 : 1}`
}

/** Reports if the indexes were built with another version of the collation than Postgres has now. */
export async function collationChange(client: pg.Client): Promise<string | undefined> {
  const { rows: [{ was, now }] } = await client.query<{ was: string | null; now: string | null }>(
    `select datcollversion as was, pg_database_collation_actual_version(oid) as now
     from pg_database where datname = current_database()`,
  )
  return was && was !== now ? `made with ${was}, and Postgres has ${now}` : undefined
}

/** Returns the SCRAM verifier of a password, to keep the password itself out of statement logs. */
function scramVerifier(password: string): string {
  const [salt, rounds] = [randomBytes(16), 4096]
  const salted = pbkdf2Sync(password, salt, rounds, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64')
  const server = hmac('Server Key').toString('base64')
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${stored}:${server}`
}
