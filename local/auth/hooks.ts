import type { QueryResult } from 'pg'
import type { Config, Hook } from '../config/config-toml.ts'
import type { Db, Tx } from './database.ts'
import { AuthError, internal } from './errors.ts'
import type { AuthRequest } from './request.ts'

type HookName = keyof Config['auth']['hooks']
type Output = { error?: { http_code?: number; message?: string }; [key: string]: unknown }

const found = new Set<string>()

/** Whether to call the hook. It may be missing only before the first migration; later, that is an error. */
async function exists(db: Db, hook: Hook): Promise<boolean> {
  const name = `${hook.schema}.${hook.name}`
  if (found.has(name)) return true
  const { rows } = await db.query(
    `select
       exists (
         select from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
         where nspname = $1 and proname = $2
       ) as present,
       exists (
         select from pg_class join pg_namespace on pg_namespace.oid = relnamespace
         where nspname = 'supabase_migrations' and relname = 'schema_migrations'
       ) as migrated`,
    [hook.schema, hook.name],
  )
  if (rows[0].present) found.add(name)
  return rows[0].present || rows[0].migrated
}

/**
 * Runs a hook in the transaction with a time limit of two seconds. Returns undefined if the hook is disabled
 * or does not exist yet.
 */
export async function runHook(
  tx: Tx,
  hooks: Config['auth']['hooks'],
  name: HookName,
  request: AuthRequest,
  input: Record<string, unknown>,
): Promise<Output | undefined> {
  const hook = hooks[name]
  if (!hook || !await exists(tx, hook)) return undefined
  const metadata = {
    uuid: crypto.randomUUID(),
    time: new Date().toISOString(),
    name: name.replaceAll('_', '-'),
    ip_address: request.ip,
  }
  let output: Output | null
  try {
    // All three statements are sent at once. Postgres applies statement_timeout to each of them separately.
    const event = tx.escapeLiteral(JSON.stringify({ metadata, ...input }))
    const results = await tx.query(
      `set local statement_timeout to '2000';
       select "${hook.schema}"."${hook.name}"(${event}::jsonb) as output;
       set local statement_timeout to default`,
    )
    output = (results as unknown as QueryResult[])[1]!.rows[0].output
  } catch (error) {
    console.error(`hook ${hook.schema}.${hook.name} failed: ${(error as Error).message}`)
    const uri = `pg-functions://postgres/${hook.schema}/${hook.name}`
    throw internal(`Error running hook URI: ${uri}`, error)
  }
  if (output?.error?.message) {
    throw new AuthError(output.error.http_code || 500, '', output.error.message)
  }
  return output ?? {}
}

const claimTypes: Record<string, string[]> = {
  aud: ['string', 'array'],
  exp: ['integer'],
  iat: ['integer'],
  sub: ['string'],
  email: ['string'],
  phone: ['string'],
  role: ['string'],
  aal: ['string'],
  session_id: ['string'],
  is_anonymous: ['boolean'],
}
const optionalTypes: Record<string, string[]> = {
  app_metadata: ['object'],
  user_metadata: ['object'],
  amr: ['array'],
}

export function checkClaims(claims: unknown): asserts claims is Record<string, unknown> {
  const given = (claims ?? {}) as Record<string, unknown>
  const wrong = [
    ...Object.entries(claimTypes).filter(([name, types]) => !types.includes(typeOf(given[name]))),
    ...Object.entries(optionalTypes).filter(([name, types]) =>
      name in given && !types.includes(typeOf(given[name]))
    ),
  ].map(([name, types]) => `- ${name}: must be ${types.join(' or ')}\n`)
  if (typeOf(claims) === 'object' && wrong.length === 0) return
  const message = `output claims do not conform to the expected schema: \n${wrong.join('')}`
  throw new AuthError(500, '', message)
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return Number.isInteger(value) ? 'integer' : typeof value
}
