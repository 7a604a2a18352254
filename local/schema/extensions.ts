// Finds extensions that sql/ creates and no migration does yet. The stand-in has some from the beginning,
// because only a superuser may create them; a hosted project needs the statement for each.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrationsIn } from './cli.ts'
import { areasIn } from './build.ts'

const statement = /(?<!--.*)\bcreate extension if not exists\s+"?([\w-]+)"?[^;]*;/gi

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
