import { existsSync, globSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import type { parseToml } from '../config/config-toml.ts'
import { areasIn, connected, scripts, scriptsIn } from './build.ts'
import { root } from './cli.ts'

type Toml = ReturnType<typeof parseToml>

export function cliWarnings(stderr: string): string[] {
  return stderr.split('\n')
    .filter((line) => line.startsWith('WARN: '))
    .map((line) => line.replace('WARN: ', ''))
}

/** Reports if, with these schema_paths, the CLI would load other files or load them in another order. */
export function loadOrderProblems(config: string, toml: Toml, sql: string): string[] {
  const folder = dirname(config)
  // The CLI processes one pattern after another and sorts each pattern's files by name.
  const patterns = [...texts(toml)].filter(([key]) => key === 'db.migrations.schema_paths')
  const named = patterns
    .flatMap(([, pattern]) => globSync(pattern, { cwd: folder }).sort())
    .map((path) => relative(sql, resolve(folder, path)))
  const built = [
    ...scriptsIn(sql, scripts.before),
    ...areasIn(sql),
    ...scriptsIn(sql, scripts.after),
  ].map(({ name }) => name)
  return named.join() === built.join()
    ? []
    : [`the CLI would load ${named.join(' ')}`, `sql/ loads as ${built.join(' ')}`]
}

export async function missingTargets(path: string, toml: Toml, url: string): Promise<string[]> {
  return [...missingFiles(path, toml), ...await missingHooks(toml, url)]
}

function missingFiles(path: string, toml: Toml): string[] {
  // Paths are relative to the configuration file. For a pattern, only its folder is checked.
  const named = [...texts(toml)].filter(([, text]) => /^\.\.?\//.test(text))
  return named.flatMap(([key, text]) => {
    const target = resolve(dirname(path), text.replace(/\/[^/]*\*.*$/, ''))
    return existsSync(target) ? [] : [`${key}: there is no ${relative(root, target)}`]
  })
}

function* texts(table: Toml, prefix = ''): Generator<[key: string, text: string]> {
  for (const [name, value] of Object.entries(table)) {
    const key = prefix ? `${prefix}.${name}` : name
    if (typeof value === 'string') yield [key, value]
    else if (Array.isArray(value)) yield* value.map((text): [string, string] => [key, text])
    else if (typeof value === 'object') yield* texts(value, key)
  }
}

const hook = /^pg-functions:\/\/postgres\/(\w+)\/(\w+)$/

async function missingHooks(toml: Toml, url: string): Promise<string[]> {
  const hooks = [...texts(toml)].filter(([key]) => /^auth\.hook\..*\.uri$/.test(key))
  return await connected(url, async (client) => {
    const found: string[] = []
    for (const [key, uri] of hooks) {
      const [, schema, name] = hook.exec(uri) ?? []
      if (!schema) continue
      const { rowCount } = await client.query(
        `select from pg_proc where pronamespace = to_regnamespace($1) and proname = $2
         and has_function_privilege('supabase_auth_admin', oid, 'execute')
         and has_schema_privilege('supabase_auth_admin', pronamespace, 'usage')`,
        [schema, name],
      )
      if (!rowCount) {
        found.push(`${key}: Auth cannot call ${schema}.${name}; is it there, and granted?`)
      }
    }
    return found
  })
}
