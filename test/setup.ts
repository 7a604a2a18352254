// Provides the project that the suite uses: the one given by SUPABASE_URL, SUPABASE_PUBLISHABLE_KEY,
// SUPABASE_SECRET_KEY, DATABASE_URL and INBOX_URL, or a new embedded stack on free ports.
import { variable } from '../local/config/environment.ts'
import { recordDescription } from './support/answered-codes.ts'
import { recordCalls } from './support/called-functions.ts'
import { allowDuplicates } from './support/duplicates.ts'
import { liftQuota } from './support/plans.ts'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { liftRates } from './support/rates.ts'
import { startOutside } from './support/real-auth-outside.ts'
import { startIssuer } from './support/social-issuer.ts'
import { startStack } from './support/stack.ts'
import { jobsAtRandom } from './suite/jobs-at-random.ts'
import { patience } from './suite/slowness.ts'

const names = [
  'SUPABASE_URL',
  'SUPABASE_PUBLISHABLE_KEY',
  'SUPABASE_SECRET_KEY',
  'DATABASE_URL',
  'INBOX_URL',
] as const

export default async function setup() {
  process.env.USED_SECRETS = join(tmpdir(), `recorded-secrets-${process.pid}`)
  const stop = variable('SUPABASE_URL') ? checkEnvironment() : await useOwnStack()
  const lifted: (() => Promise<void>)[] = []
  try {
    for (const lift of [liftRates, liftQuota, allowDuplicates]) {
      lifted.push(await lift(variable('DATABASE_URL')!))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return async () => {
    rmSync(variable('USED_SECRETS')!, { force: true })
    for (const restore of lifted) await restore()
    await stop()
  }
}

function checkEnvironment() {
  const missing = names.filter((name) => !variable(name))
  if (missing.length) throw new Error(`SUPABASE_URL is set, so set ${missing.join(', ')} too.`)
  return async () => {}
}

async function useOwnStack() {
  const issuer = await startIssuer()
  const outside = variable('REAL_AUTH') ? await startOutside(issuer.url) : undefined
  Object.assign(process.env, issuer.settings, outside?.settings)
  const hashing = variable('HASHING') ?? 'quick'
  const stack = await startStack({
    RATES: 'off',
    HASHING: hashing,
    REFUSED_JOINS: 'quick',
    CALLS: 'counted',
    // Time limits are ten times as long in this stack. Tests of a limit start their own functions, and
    // `npm run test:timing` uses the real limits.
    PATIENCE: patience,
    // The lifetimes of workers are tested separately (local/functions/workers.test.ts).
    WORKER_LIFE: '600',
    REPLICAS: variable('REPLICAS') === '0' ? '0' : 'synchronous',
    NODE_ENV: 'test',
  })
  Object.assign(process.env, {
    SUPABASE_URL: stack.url,
    SUPABASE_PUBLISHABLE_KEY: stack.publishableKey,
    SUPABASE_SECRET_KEY: stack.secretKey,
    DATABASE_URL: stack.databaseUrl,
    INBOX_URL: stack.inboxUrl,
    LOCAL_STACK: stack.folder,
    SOCIAL_ISSUER_URL: issuer.url,
  })
  const stopJobs = variable('SLOW') ? jobsAtRandom(stack, Number(variable('SLOW'))) : () => {}
  return async () => {
    stopJobs()
    await recordDescription()
    await recordCalls(stack.databaseUrl)
    outside?.stop()
    await issuer.stop()
    await stack.stop()
  }
}
