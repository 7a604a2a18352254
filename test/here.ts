// `npm run test:here -- <area or file> …`: runs tests against the running stack of `npm start`. At the end it
// suspends the accounts created during the run, so that their listings disappear. Tests that stop processes
// or need their own stack require `npm test`.
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { variable } from '../local/config/environment.ts'
import type { describeStack } from '../local/config/stack.ts'
import { filtersFor } from './suite/areas.ts'
import { allowDuplicates } from './support/duplicates.ts'
import { liftQuota } from './support/plans.ts'
import { liftRates } from './support/rates.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function refuse(sentence: string): never {
  console.error(sentence)
  process.exit(1)
}

function testsOf(given: string[]): string[] {
  const filters = filtersFor(given)
  const named = filters.filter((one) => /^(test|local)\//.test(one))
  if (!named.length) {
    refuse(
      'Say what to test: npm run test:here -- favorites, or a file of test/. The whole suite is npm test.',
    )
  }
  const missing = named.find((one) => !existsSync(join(root, one)))
  if (missing) refuse(`There is no ${missing}.`)
  const aside = named.find((one) => /\.(alone|timing)\.test\.ts$/.test(one))
  if (aside) {
    refuse(`${aside} stops processes or wants a stack to itself: npm test -- ${aside}`)
  }
  return filters
}

async function runningStack() {
  const folder = resolve(root, variable('LOCAL_DATA')!)
  const file = join(folder, 'stack.json')
  const stack: ReturnType<typeof describeStack> | undefined = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : undefined
  const answers = stack && await fetch(`${stack.baseUrl}/health`).then(({ ok }) => ok, () => false)
  if (!stack || !answers) {
    refuse(
      `No stack runs on ${folder}: "npm start" in another window, or npm test, which starts its own.`,
    )
  }
  return { folder, ...stack }
}

/** Runs SQL as test code (edits.by), exempt from the rules for manual edits. */
async function ask(databaseUrl: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(`set edits.by = 'tests'`)
    return await client.query(sql, values)
  } finally {
    await client.end()
  }
}

const filters = testsOf(process.argv.slice(2))
const stack = await runningStack()
const { rows: [{ began }] } = await ask(
  stack.databaseUrl,
  'select clock_timestamp()::text as began',
)
// The limits are lifted and restored here, because interrupted tests would not restore them.
const lifted = [
  await liftRates(stack.databaseUrl),
  await liftQuota(stack.databaseUrl),
  await allowDuplicates(stack.databaseUrl),
]
process.on('SIGINT', () => {})
const child = spawn(
  process.execPath,
  [
    fileURLToPath(new URL('run.ts', import.meta.url)),
    ...filters,
    '--exclude',
    '**/*.alone.test.ts',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      RUN_BY: 'npm run test:here --',
      SUPABASE_URL: stack.url,
      SUPABASE_PUBLISHABLE_KEY: stack.publishableKey,
      SUPABASE_SECRET_KEY: stack.secretKey,
      DATABASE_URL: stack.databaseUrl,
      INBOX_URL: stack.inboxUrl,
      LOCAL_STACK: stack.folder,
    },
  },
)
for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
const code = await new Promise<number>((done) => child.once('close', (code) => done(code ?? 1)))
for (const restore of lifted) await restore()
const { rowCount } = await ask(
  stack.databaseUrl,
  `update public.accounts set status = 'suspended', status_reason = 'signed up by a test'
   where created_at >= $1 and status = 'active'`,
  [began],
)
if (rowCount) {
  console.log(
    `\nWho signed up meanwhile is suspended: ${rowCount}, so that nothing of theirs is listed.`,
  )
}
process.exitCode = code
