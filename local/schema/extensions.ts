// Extensions, by the text of sql/. On the stand-in some are there from the beginning, because
// Postgres lets only a superuser create them; a hosted project has to be asked for each.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrationsIn } from './cli.ts'
import { areasIn } from './build.ts'

const statement = /(?<!--.*)\bcreate extension if not exists\s+"?([\w-]+)"?[^;]*;/gi

/** The statements of sql/ that no migration has yet. */
export function missingExtensions(sql: string, migrations: string): string[] {
  const known = new Set(
    migrationsIn(migrations)
      .flatMap((name) => [...readFileSync(join(migrations, name), 'utf8').matchAll(statement)])
      .map(([, name]) => name),
  )
  return areasIn(sql)
    .flatMap(({ text }) => [...text.matchAll(statement)])
    .filter(([, name]) => !known.has(name))
    .map(([text]) => text)
}
