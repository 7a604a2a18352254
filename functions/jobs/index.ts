/**
 * Edge function `jobs`: scheduled work, one SQL function per job. The local stack calls it every
 * minute; hosted projects schedule it with supabase/schedule.sql.
 */
import { backend, type BackendFunction } from '../api/db.ts'
import { env } from '../api/env.ts'
import { sameText } from '../api/secrets.ts'

/** Each takes nothing, may run twice at once, and gives the number of things it did. */
const jobs: BackendFunction[] = [
  'delete_due_accounts',
  'end_suspensions',
  'expire_licences',
  'expire_listings',
  'fold_views',
  'sweep_codes',
  'sweep_idempotency_keys',
  'sweep_office_ranks',
  'sweep_rates',
]

async function run(name: BackendFunction) {
  const started = performance.now()
  const outcome = await backend<number>(name, {}).then(
    (done) => ({ done }),
    (error) => ({ error: String(error.message) }),
  )
  console.log(
    JSON.stringify({ job: name, ...outcome, ms: Math.round(performance.now() - started) }),
  )
  return [name, outcome] as const
}

Deno.serve(async (request) => {
  if (!sameText(request.headers.get('apikey') ?? '', env.secretKey)) {
    return Response.json({ error: { code: 'token_missing' } }, { status: 401 })
  }
  const outcomes = []
  for (const name of jobs) outcomes.push(await run(name))
  return Response.json(Object.fromEntries(outcomes))
})
