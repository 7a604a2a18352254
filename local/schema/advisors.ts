import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../config/user-error.ts'
import { errorLines, remoteFlag, root, supabase } from './cli.ts'

export type Finding = { lint: string; object: string; detail: string }
type Exception = { lint: string; object: string; reason: string }

type Advice = {
  name: string
  detail: string
  cacheKey: string
  metadata?: { schema?: string; name?: string }
}

/** In a new database, every index is unused. Some function bodies need no search_path (conventions.ts). */
const ignored = ['unused_index', 'function_search_path_mutable']

export async function advise(url: string): Promise<Finding[]> {
  const result = await supabase([
    ...['--output-format', 'json', 'db', 'advisors', remoteFlag(url)],
    ...['--type', 'all', '--level', 'info'],
  ])
  if (result.code !== 0) throw new UserError(`supabase db advisors failed:\n${errorLines(result)}`)
  const { results } = JSON.parse(result.stdout) as { results: Advice[] }
  return results.filter(({ name }) => !ignored.includes(name)).map((advice) => ({
    lint: advice.name,
    object: objectOf(advice),
    detail: advice.detail,
  }))
}

/** Returns `schema.table`, followed by the part that makes the finding unique: a constraint, a policy … */
function objectOf({ name: lint, cacheKey, metadata }: Advice): string {
  const { schema, name } = metadata ?? {}
  if (!schema || !name) return cacheKey.replace(`${lint}_`, '')
  // The key of a function ends with a hash of its arguments, which would tell a reader nothing.
  const more = cacheKey.replace(`${lint}_${schema}_${name}`, '').replace(/_[0-9a-f]{32}$/, '')
    .replace(/^_/, '')
  return more && more !== cacheKey ? `${schema}.${name} ${more}` : `${schema}.${name}`
}

/** Reads a list of exceptions. An entry may be for several objects. */
export function exceptions(file = 'test/whole/advisors.json'): Exception[] {
  const list = JSON.parse(
    readFileSync(join(root, file), 'utf8'),
  ) as (Omit<Exception, 'object'> & { object: string | string[] })[]
  for (const one of list) {
    if (one.lint && one.object?.length && one.reason) continue
    throw new UserError(`${file}: ${JSON.stringify(one)} needs lint, object and reason.`)
  }
  return list.flatMap((one) => [one.object].flat().map((object) => ({ ...one, object })))
}

export function unexplained(
  findings: Finding[],
  exceptions: Exception[],
  file = 'test/whole/advisors.json',
): string[] {
  const same = (a: Finding | Exception, b: Finding | Exception) =>
    a.lint === b.lint && a.object === b.object
  const open = findings.filter((one) => !exceptions.some((exception) => same(one, exception)))
  const idle = exceptions.filter((one) => !findings.some((finding) => same(one, finding)))
  return [
    ...open.map(({ lint, object, detail }) => `${lint}: ${object}: ${detail}`),
    ...idle.map(({ lint, object }) =>
      `${lint}: ${object}: is in ${file}, but is found no more; take it out there`
    ),
  ]
}
