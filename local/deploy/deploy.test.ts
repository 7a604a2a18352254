// Deploys with the real CLI to a real, empty database and a mock Management API that records requests.
import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkConfig, configText } from './config-file.ts'
import { hasRelease } from '../schema/baseline.ts'
import { onTemporaryServer } from '../schema/temporary-server.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { hostedExtensions } from './support/hosted-extensions.ts'
import { runDeploy, type Settings } from './support/run.ts'
import { secretKey, startPlatform, token } from './support/management-api.ts'
import { type Platform, ref } from './support/platform.ts'

let server: Postgres
let stop: () => void
let stopped: Promise<void>
let platform: Platform

beforeAll(async () => {
  await new Promise<void>((ready, failed) => {
    stopped = onTemporaryServer(async (fresh) => {
      server = fresh
      await new Promise<void>((done) => {
        stop = done
        ready()
      })
    })
    stopped.catch(failed)
  })
  await query(hostedExtensions, server.url)
  platform = await startPlatform(server)
})

afterAll(async () => {
  await platform.stop()
  stop()
  await stopped
})

const deploy = (settings: Settings = {}, ...flags: string[]) =>
  runDeploy(platform, settings, ...flags)

const requests = () => platform.sent.map(({ method, path }) => `${method} ${path}`)
const bodyOf = (method: string, path: string) =>
  platform.sent.filter((one) => one.method === method && one.path === path).map(({ body }) => body)

async function failing(method: string, path: string, work: () => Promise<void>) {
  platform.fails = (one, at) => one === method && at.startsWith(path) ? 403 : undefined
  await work().finally(() => (platform.fails = () => undefined))
}

/** Makes deployments fail as soon as the CLI reads the settings, to skip the slow steps after that. */
const untilSettings = (work: () => Promise<void>) => failing('GET', '/postgrest', work)

const query = async (sql: string, url = server.adminUrl) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

const facadeLogsIn = async () =>
  expect(await query('select current_user::text as name', platform.secrets.get('FACADE_DB_URL')!))
    .toEqual([{ name: 'facade' }])

// Each test starts with the project in the state in which the previous test left it.
describe('a project', { shuffle: false }, () => {
  describe('that is new', () => {
    test('with --check, which reports what would change', async () => {
      const { code, output } = await deploy({}, '--check')
      expect(output).toContain('checked')
      expect(output).toMatch(/would become[^]*auth security_captcha_enabled: true/)
      expect(output).toContain('-- off: no push is sent (FCM_SERVICE_ACCOUNT)')
      expect(output).toContain('-- off: nobody registers by phone')
      expect(code).toBe(0)
      expect(requests()).toEqual(['POST /cli/login-role'])
    })

    test('with --check, which takes what is complete, given or kept', async () => {
      const stored = { SMS_PROVIDER: 'kwtsms', SMS_PASSWORD: 'x', SMS_SENDER: 'x', OLD_ONE: 'x' }
      for (const [name, value] of Object.entries(stored)) platform.secrets.set(name, value)
      try {
        const { code, output } = await deploy({
          ALLOW_NO_SMS: '',
          SMS_USERNAME: 'dar',
          CORS_ORIGINS: 'https://your.site,http://localhost:3000,capacitor://localhost',
          RETURN_URLS: 'https://your.site/back,dar://',
          PAYMENT_PROVIDER: 'tap',
          TAP_SECRET_KEY: `sk_live_${'Xk3Pq9Zt'}`,
          MAIL_PROVIDER: 'resend',
          MAIL_API_KEY: 're_Xk3Pq9ZtLm2Rv8Bn',
          MAIL_FROM: 'Your Site <codes@your.site>',
          FACADE_DB_POOL: '2',
        }, '--check')
        expect(output).toContain('checked')
        expect(output).toContain(`-- not deploy's: secret OLD_ONE, which no function reads`)
        for (const part of ['SMS', 'mail', 'pay', 'browsers']) {
          expect(output).not.toMatch(`off: .*${part}`)
        }
        expect(code).toBe(0)
      } finally {
        for (const name of Object.keys(stored)) platform.secrets.delete(name)
      }
    })

    test("that is another product's is not taken over by a slip", async () => {
      await query('create table public.orders (id integer)')
      platform.functions.set('hello', { version: 3, verifyJwt: true, files: [] })
      try {
        for (const flag of ['--check', '--take-over=bcdefghijklmnopqrsta']) {
          expect((await deploy({}, flag)).code).toBe(1)
        }
        const { code, output } = await deploy()
        expect(code).toBe(1)
        expect(output).toContain('tables: 1 (orders); the function hello')
        expect(output).toContain(`--take-over=${ref}`)
        expect(requests()).toEqual(['POST /cli/login-role'])
        const { output: taken } = await deploy({}, '--check', `--take-over=${ref}`)
        expect(taken).toContain("-- not deploy's: function hello")
        expect(taken).toContain('-- would become')
      } finally {
        platform.functions.delete('hello')
        await query('drop table public.orders')
      }
    })
  })

  describe('that is deployed', () => {
    const outputs: string[] = []
    const lines = new Set<string>()
    let first: Map<string, string>

    /** Collects the command lines of all processes on this machine, for the first second of each. */
    function watch() {
      let seen = new Map<string, number>()
      return setInterval(() => {
        const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
        seen = new Map(pids.map((pid) => [pid, (seen.get(pid) ?? 0) + 1]))
        for (const [pid, times] of seen) {
          if (times > 20) continue
          try {
            lines.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '))
          } catch {
            // The process has ended.
          }
        }
      }, 50)
    }
    let watching: ReturnType<typeof watch> | undefined
    beforeAll(() => {
      if (process.platform === 'linux') watching = watch()
    })
    afterAll(() => clearInterval(watching))

    test('stops where the platform refuses, and reports the step', async () => {
      await failing('PUT', '/functions', async () => {
        const { code, output } = await deploy({ CORS_ORIGINS: 'https://dar.example' })
        outputs.push(output)
        expect(code).toBe(1)
        expect(output).toContain('Stopped at "functions"')
        expect(output).toContain('run it again when this is fixed')
      })
      first = new Map(platform.secrets)
      const steps = requests().map((one) => one.replace(/\?.*/, ''))
      expect(steps).toEqual([
        // One temporary role is used for the migrations and for setting the facade's password.
        'POST /cli/login-role',
        'POST /secrets',
        'POST /secrets',
        // The CLI sends the settings of config.toml.
        'PATCH /postgrest',
        'PUT /ssl-enforcement',
        'PATCH /config/auth',
        'PATCH /config/storage',
        // Deploy itself sends the settings that config.toml cannot hold.
        'PATCH /config/auth',
        'PATCH /config/auth',
        'PATCH /config/realtime',
        'PATCH /config/auth',
        // The rate limit for token refreshes is set last, after a sign-in without a captcha was rejected.
        'PATCH /config/auth',
        ...Array(3).fill('POST /functions/deploy'),
        'PUT /functions',
      ])
    })

    test('sends the settings that the product relies on, and the rate last', () => {
      const [file, forwarding, audit, site, rate] = bodyOf('PATCH', '/config/auth')
      expect(file).toEqual({
        disable_signup: true,
        external_phone_enabled: true,
        hook_custom_access_token_enabled: true,
        hook_custom_access_token_uri: 'pg-functions://postgres/private/custom_access_token',
        hook_send_email_enabled: true,
        hook_send_email_uri: 'pg-functions://postgres/private/refuse_sending',
        hook_send_sms_enabled: true,
        hook_send_sms_uri: 'pg-functions://postgres/private/refuse_sending',
        mailer_autoconfirm: false,
        mfa_totp_enroll_enabled: false,
        mfa_totp_verify_enabled: false,
        password_min_length: 8,
        security_captcha_enabled: true,
        security_captcha_provider: 'turnstile',
        security_captcha_secret: 'nobody-has-one',
        security_update_password_require_current_password: true,
      })
      expect([forwarding, audit, site, rate]).toEqual([
        { security_sb_forwarded_for_enabled: true },
        { audit_log_disable_postgres: true },
        { site_url: 'https://dar.example' },
        { rate_limit_token_refresh: 32_767 },
      ])
      expect(bodyOf('PATCH', '/config/realtime')).toEqual([{ private_only: true }])
      expect(bodyOf('PATCH', '/config/storage')).toEqual([
        { features: { imageTransformation: { enabled: false } }, fileSizeLimit: 10_485_760 },
      ])
      expect(bodyOf('PUT', '/ssl-enforcement')).toEqual([{ requestedConfig: { database: true } }])
      expect(bodyOf('PATCH', '/postgrest')).toEqual([
        { db_schema: 'api', db_extra_search_path: 'api' },
      ])
    })

    test('generates keys of 32 bytes and a password of the facade', async () => {
      expect([...first.keys()].sort()).toEqual(
        ['ALLOW_NO_SMS', 'CODE_SECRET', 'CORS_ORIGINS', 'ENVIRONMENT', 'FACADE_DB_URL', 'SEAL_KEY'],
      )
      expect(first.get('ENVIRONMENT')).toBe('production')
      for (const name of ['CODE_SECRET', 'SEAL_KEY']) {
        expect(Buffer.from(first.get(name)!, 'base64')).toHaveLength(32)
      }
      expect(new URL(first.get('FACADE_DB_URL')!).username).toBe(`facade.${ref}`)
      await facadeLogsIn()
    })

    test('brings the database to the newest migration, all of it owned by postgres', async () => {
      const files = readdirSync('supabase/migrations').filter((name) => name.endsWith('.sql'))
      const [{ newest }] = await query(
        'select max(version) as newest from supabase_migrations.schema_migrations',
      )
      expect(newest).toBe(files.sort().at(-1)!.split('_')[0])
      const owners = await query(
        `select distinct relowner::regrole::text as owner from pg_class
       where relnamespace in ('public'::regnamespace, 'private'::regnamespace) and relkind = 'r'`,
      )
      expect(owners).toEqual([{ owner: 'postgres' }])
    })

    test('continues where it stopped, and repeats nothing that is done', async () => {
      // A project that once had replicas still has this job.
      await query(
        "select cron.schedule('beat', '2 seconds', 'select private.beat()')",
      )
      const { code, output } = await deploy({ CORS_ORIGINS: 'https://dar.example' })
      outputs.push(output)
      expect(output).toContain('Deployed.')
      expect(code).toBe(0)
      expect(requests().map((one) => one.replace(/\?.*/, ''))).toEqual([
        'POST /cli/login-role',
        ...Array(3).fill('POST /functions/deploy'),
        'PUT /functions',
        'POST /secrets',
      ])
      expect(bodyOf('POST', '/secrets')).toEqual([[{ name: 'CLIENT_IP_HOPS', value: '2' }]])
      for (const [name, value] of first) expect(platform.secrets.get(name), name).toBe(value)
      expect(output).toContain('client addresses: CLIENT_IP_HOPS is 2')
      expect(output).toContain('jobs: 2 ran, and are scheduled')
      expect(output).toContain('health: status ok, database ok')
    })

    test('schedules the jobs, none for replicas that it has not, with the address and a key of the project in Vault', async () => {
      expect(await query('select jobname, schedule from cron.job order by 1')).toEqual([
        { jobname: 'forget old runs', schedule: '17 * * * *' },
        { jobname: 'jobs', schedule: '* * * * *' },
        { jobname: 'jobs often', schedule: '5 seconds' },
      ])
      const stored = await query(
        'select name, decrypted_secret as value from vault.decrypted_secrets',
      )
      expect(new Map(stored.map(({ name, value }) => [name, value]))).toEqual(
        new Map([['project_url', platform.url], ['jobs_key', secretKey]]),
      )
    })

    test('is checked afterwards: nothing differs, or it says what and fails', async () => {
      const settings = { CORS_ORIGINS: 'https://dar.example' }
      const check = async () => {
        const { code, output } = await deploy(settings, '--check')
        expect(requests()).toEqual(['POST /cli/login-role'])
        return { code, output }
      }
      const same = await check()
      expect(same.output).toContain('-- as a deployment would leave it')
      expect(same.code).toBe(0)

      platform.auth.security_captcha_enabled = false
      platform.auth.external_github_enabled = true
      platform.secrets.set('CORS_ORIGINS', 'https://other.example')
      await query("delete from cron.job where jobname = 'jobs often'")
      await query("update cron.job set active = false where jobname = 'jobs'")
      const other = await check()
      expect(other.code).toBe(2)
      for (
        const line of [
          'auth security_captcha_enabled: true',
          'secrets: CORS_ORIGINS',
          'jobs that are not scheduled: jobs, jobs often',
          "-- not deploy's: auth external_github_enabled: true",
        ]
      ) expect(other.output).toContain(line)

      Object.assign(platform.auth, {
        security_captcha_enabled: true,
        external_github_enabled: false,
      })
      platform.secrets.set('CORS_ORIGINS', 'https://dar.example')
      platform.functions.delete('chat')
      const less = await check()
      expect(less.output).toContain('functions: chat')
    })

    test('is told that an upgrade of Postgres sorts texts by other rules', async () => {
      const own = 'where datname = current_database()'
      try {
        await query(`update pg_database set datcollversion = '1.2' ${own}`)
        const { code, output } = await deploy({}, '--check')
        expect(output).toContain('-- collation of indexes: made with 1.2, and Postgres has 1')
        expect(code).toBe(2)
      } finally {
        await query(`update pg_database
          set datcollversion = pg_database_collation_actual_version(oid) ${own}`)
      }
      expect((await deploy({}, '--check')).output).not.toContain('-- collation')
    })

    test('is told which refresh tokens Auth gives', async () => {
      const session = '00000000-0000-4000-8000-000000000001'
      const tokens = async () => (await deploy({}, '--check')).output
      // Runs SQL without checking foreign keys, so that sessions and tokens can be inserted without a user.
      const alone = (sql: string) => query(`set session_replication_role = replica; ${sql}`)
      expect(await tokens()).toContain('refresh tokens: not known until somebody has signed in')
      try {
        await alone(
          `insert into auth.sessions (id, user_id, created_at) values ('${session}', '${session}', now());
         insert into auth.refresh_tokens (session_id, user_id, token)
         values ('${session}', '${session}', 'abcdefghijkl')`,
        )
        expect(await tokens()).toContain('refresh tokens: version 1')
        await alone(
          `delete from auth.refresh_tokens;
         update auth.sessions set refresh_token_hmac_key = 'k' where id = '${session}'`,
        )
        expect(await tokens()).toContain('refresh tokens: version 2')
      } finally {
        await alone('delete from auth.refresh_tokens; delete from auth.sessions')
      }
    })

    test('swaps nothing in when one bundle fails', async () => {
      const before = JSON.stringify([...platform.functions])
      platform.fails = (method, path, query) =>
        method === 'POST' && path === '/functions/deploy' && query.get('slug') === 'jobs'
          ? 400
          : undefined
      try {
        const { code, output } = await deploy()
        expect(code).toBe(1)
        expect(output).toContain('Stopped at "functions"')
        expect(requests()).not.toContain('PUT /functions')
        expect(JSON.stringify([...platform.functions])).toBe(before)
      } finally {
        platform.fails = () => undefined
      }
    })

    test('gives the reason of settings that are refused', async () => {
      platform.auth.site_url = 'https://old.example'
      platform.auth.password_min_length = 6
      await failing('PATCH', '/config/auth', async () => {
        const { output } = await deploy()
        expect(output).toContain('Stopped at "settings"')
        expect(output).toContain('no, because')
      })
    })

    test('a lost answer about secrets changes nothing', async () => {
      let lost = 0
      platform.loses = (method, path) => method === 'POST' && path === '/secrets' && lost++ === 0
      await untilSettings(async () => {
        const { output } = await deploy({}, '--new-facade-password')
        outputs.push(output)
        expect(output).toContain('-- secrets: FACADE_DB_URL')
        expect(output).toContain('Stopped at "settings"')
      })
      platform.loses = () => false
      expect(lost).toBe(1)
      await facadeLogsIn()
    })

    test('what broke off between project and database is mended by the next deployment', async () => {
      let lost = false
      platform.loses = (method, path) => lost ||= method === 'POST' && path === '/secrets'
      platform.fails = (_, path) => lost && path === '/secrets' ? 403 : undefined
      const broken = await deploy({}, '--new-facade-password')
      platform.loses = () => false
      platform.fails = () => undefined
      expect(broken.output).toContain('Stopped at "secrets"')
      await expect(facadeLogsIn()).rejects.toThrow('password authentication failed')

      const check = await deploy({}, '--check')
      expect(check.output).toContain('the password of the facade')
      expect(check.code).toBe(2)
      const { code, output } = await deploy()
      outputs.push(broken.output, output)
      expect(output).toContain('-- secrets: FACADE_DB_URL')
      expect(code).toBe(0)
      await facadeLogsIn()
    })

    test('deploys every function that config.toml lists, each with its settings', () => {
      const listed = checkConfig(configText(), {}).functions
      expect(listed.sort()).toEqual(['api', 'chat', 'jobs'])
      expect([...platform.functions.keys()].sort()).toEqual(listed)
      for (const [name, { verifyJwt, files }] of platform.functions) {
        expect(verifyJwt, name).toBe(false)
        expect(files, name).toContain(`functions/${name}/index.ts`)
        expect(files, name).toContain('functions/deno.json')
      }
    })

    test('gives the facade a new password on request, or leaves the old one valid', async () => {
      await failing('POST', '/secrets', async () => {
        const { code, output } = await deploy({}, '--new-facade-password')
        outputs.push(output)
        expect(code).toBe(1)
        expect(output).toContain('Stopped at "secrets"')
      })
      // The FACADE_DB_URL stored in the functions' secrets still works.
      await facadeLogsIn()
    })

    test('can return to an earlier version, which lacks the newest migrations', async () => {
      await query(
        `insert into supabase_migrations.schema_migrations (version, name) values ('99991231235959', 'x')`,
      )
      await untilSettings(async () => {
        const newer = await deploy()
        expect(newer.output).toContain('Stopped at "migrations"')
        const earlier = await deploy({}, '--without-migrations')
        expect(earlier.output).toContain('Stopped at "settings"')
        outputs.push(newer.output, earlier.output)
      })
      await query(
        `delete from supabase_migrations.schema_migrations where version = '99991231235959'`,
      )
    })

    // From 1.0.0 on, the baseline never changes, so this cannot happen.
    test.skipIf(hasRelease())(
      'stops where the database was made by an earlier baseline',
      async () => {
        const change = (how: string) =>
          query(`update supabase_migrations.schema_migrations set statements = ${how}
          where version = (select min(version) from supabase_migrations.schema_migrations)`)
        await change(`statements || '{select 1}'`)
        const { code, output } = await deploy()
        outputs.push(output)
        expect(code).toBe(1)
        expect(output).toContain('This database was made by an earlier baseline')
        const checked = await deploy({}, '--check')
        expect(checked.output).toContain('migrations: the baseline, which was made anew')
        await change('trim_array(statements, 1)')
      },
    )

    test('is refused while another deployment runs', async () => {
      const other = new pg.Client({ connectionString: server.url })
      await other.connect()
      try {
        await other.query(`select pg_advisory_lock(hashtext('deploy'))`)
        const { code, output } = await deploy()
        outputs.push(output)
        expect(code).toBe(1)
        expect(output).toContain('Another deployment to this project is in progress')
        expect(requests()).toEqual(['POST /cli/login-role'])
      } finally {
        await other.end()
      }
    })

    test('uses the password of the database instead of a temporary role, if given', async () => {
      await query(`alter role postgres password 'of-the-database-itself'`)
      await untilSettings(async () => {
        const { output } = await deploy({ SUPABASE_DB_PASSWORD: 'of-the-database-itself' })
        outputs.push(output)
        expect(output).toContain('-- migrations')
        expect(output).toContain('Stopped at "settings"')
        expect(requests()).not.toContain('POST /cli/login-role')
      })
    })

    test('does not retry with a wrong password', async () => {
      const { code, output } = await deploy({ SUPABASE_DB_PASSWORD: 'of-another-database' })
      outputs.push(output)
      expect(code).toBe(1)
      expect(output).toMatch(/^Could not connect to the database: password authentication failed/m)
      expect(requests()).toEqual([])
    })

    test('shows no secret in its output or on a command line', () => {
      const passwords = ['lent-for-some-minutes', 'of-the-database-itself', 'of-another-database']
      const secrets = [token, secretKey, ...passwords, ...platform.secrets.values()]
        .filter((value) => !['true', 'production', '2', 'https://dar.example'].includes(value))
      secrets.push(new URL(platform.secrets.get('FACADE_DB_URL')!).password)
      expect(secrets).toHaveLength(9)
      const seen = [...outputs, ...lines].join('\n')
      for (const secret of secrets) expect(seen.includes(secret), secret.slice(0, 4)).toBe(false)
      if (process.platform === 'linux') expect(seen).toContain('db push')
    })
  })
})
