// npm run restore:check -- --since=<time of the backup> [--logs=<file>]: finds data that a restored database
// has lost, and changes nothing. It compares the database with the files in Storage, with the payment
// provider's list of charges, and with the functions' log, which has the account id of every request.
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { variable } from '../config/environment.ts'
import { databaseAt } from '../schema/connection.ts'
import { UserError } from '../config/user-error.ts'

type Line = { time?: string; method?: string; route?: string; status?: number; account?: string }
type Charge = {
  id: string
  amount: number
  currency: string
  status: string
  reference?: { transaction?: string; order?: string }
}

const needed = (name: Parameters<typeof variable>[0]) => {
  const value = variable(name)
  if (!value) throw new UserError(`Set ${name} (docs/deploy.md, "Restoring").`)
  return value
}

async function each<T>(all: T[], work: (one: T) => Promise<void>) {
  const left = [...all]
  const worker = async () => {
    for (let one = left.shift(); one; one = left.shift()) await work(one)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

/** Returns the rows whose file is missing in Storage. The requests bypass all caches. */
async function lostFiles(client: pg.Client, url: string, key: string): Promise<string[]> {
  const { rows } = await client.query<{ bucket: string; name: string }>(
    `select bucket, name from private.file_rows where discarded_at is null order by bucket, name`,
  )
  const lost: string[] = []
  await each(rows, async ({ bucket, name }) => {
    const response = await fetch(`${url}/storage/v1/object/authenticated/${bucket}/${name}`, {
      headers: { apikey: key, authorization: `Bearer ${key}`, range: 'bytes=0-0' },
      signal: AbortSignal.timeout(30_000),
    }).catch(() => undefined)
    // If the response is cut off, the file counts as lost.
    const there = response?.ok && await response.arrayBuffer().then(() => true, () => false)
    if (!there) lost.push(`${bucket}/${name}`)
  })
  return lost.sort()
}

async function strayFiles(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ file: string }>(
    `select bucket_id || '/' || name as file from storage.objects
     where bucket_id in ('avatars', 'listings', 'documents') and not exists (
       select from private.file_rows
       where file_rows.bucket = bucket_id and file_rows.name = objects.name
     ) order by 1`,
  )
  return rows.map(({ file }) => file)
}

async function unknownPayments(client: pg.Client, since: Date): Promise<string[]> {
  const key = variable('TAP_SECRET_KEY')
  if (!key) return []
  const charges: Charge[] = []
  for (let after: string | undefined, more = true; more;) {
    const response = await fetch(`${variable('TAP_URL')}/charges/list`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        // A charge may be paid up to half an hour after its creation, so the list begins before the backup.
        period: { date: { from: String(since.getTime() - 3_600_000), to: String(Date.now()) } },
        limit: 50,
        starting_after: after,
      }),
      signal: AbortSignal.timeout(30_000),
    })
    if (!response.ok) throw new UserError(`Tap answered ${response.status} for its list.`)
    const page = await response.json() as { charges?: Charge[]; has_more?: boolean }
    charges.push(...page.charges ?? [])
    after = page.charges?.at(-1)?.id
    more = Boolean(page.has_more && after)
  }
  const { rows } = await client.query<{ id: string }>(
    'select id from public.payments where id::text = any ($1)',
    [charges.map(({ reference }) => reference?.transaction ?? '')],
  )
  return charges.filter(({ status, reference }) =>
    status === 'CAPTURED' && !rows.some(({ id }) => id === reference?.transaction)
  ).map(({ id, amount, currency, reference }) =>
    `${id}: ${amount.toFixed(3)} ${currency}, invoice ${reference?.order ?? 'unknown'}`
  )
}

/** Reads the successful requests since `since` from a platform log, which mixes JSON with other text. */
function requestsSince(file: string | undefined, since: Date): Line[] {
  if (!file) return []
  return [...readFileSync(file, 'utf8').matchAll(/\{"time":"[^\n]*?\}/g)].flatMap(([text]) => {
    try {
      const line = JSON.parse(text) as Line
      return line.time && new Date(line.time) >= since && line.status! < 300 ? [line] : []
    } catch {
      return []
    }
  })
}

async function deletionsToRepeat(client: pg.Client, lines: Line[]): Promise<string[]> {
  const requests = new Map<string, string>()
  for (const { route, method, account, time } of lines) {
    if (account && method === 'POST' && route?.endsWith('/me/delete')) requests.set(account, time!)
  }
  const { rows } = await client.query<{ id: string }>(
    `select id::text from public.accounts
     where id::text = any ($1) and status <> 'deleted' and delete_at is null order by 1`,
    [[...requests.keys()]],
  )
  return rows.map(({ id }) => `${id}, asked at ${requests.get(id)}`)
}

/** Checks that the functions can log in to the database: the restore has brought back an old password. */
async function facadeState(url: string): Promise<string[]> {
  const response = await fetch(`${variable('API_URL') ?? `${url}/functions/v1/api`}/health`, {
    signal: AbortSignal.timeout(30_000),
  }).catch(() => undefined)
  const health = await response?.json().catch(() => undefined) as { database?: string } | undefined
  return health?.database === 'ok' ? [] : [
    'the functions do not reach the database: npm run deploy -- --new-facade-password',
  ]
}

function argument(name: string): string | undefined {
  const flag = process.argv.find((one) => one.startsWith(`--${name}=`))
  return flag?.slice(name.length + 3)
}

async function check(): Promise<void> {
  const since = new Date(argument('since') ?? '')
  if (!Number.isFinite(since.getTime())) {
    throw new UserError('Say of when the backup is: --since=2026-11-25T20:00:00Z')
  }
  const [url, key] = [needed('SUPABASE_URL').replace(/\/$/, ''), needed('SUPABASE_SECRET_KEY')]
  const lines = requestsSince(argument('logs'), since)
  const client = new pg.Client(databaseAt(needed('DATABASE_URL')))
  await client.connect()
  try {
    await client.query('set session characteristics as transaction read only')
    const found: Record<string, string[]> = {
      'rows whose file does not answer': await lostFiles(client, url, key),
      'files without a row': await strayFiles(client),
      'payments that only the provider knows': await unknownPayments(client, since),
      'deletions to repeat': await deletionsToRepeat(client, lines),
      "the facade's password": await facadeState(url),
    }
    for (const [what, all] of Object.entries(found)) {
      console.log(`-- ${what}: ${all.length || 'none'}${all.map((one) => `\n   ${one}`).join('')}`)
    }
    const uploads = lines.filter(({ route }) => /\/media\/upload\//.test(route ?? '')).length
    if (argument('logs')) console.log(`-- uploads that are lost with their rows: ${uploads}`)
    else console.log('-- without --logs nobody knows which deletions to repeat')
    if (!variable('TAP_SECRET_KEY')) {
      console.log('-- without TAP_SECRET_KEY no payments were compared')
    }
    if (Object.values(found).some((all) => all.length)) process.exitCode = 2
  } finally {
    await client.end()
  }
}

await check().catch((error) => {
  if (!(error instanceof UserError)) throw error
  console.error(error.message)
  process.exitCode = 1
})
