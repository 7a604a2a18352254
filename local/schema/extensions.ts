// Finds extensions that sql/ creates but no migration creates yet. Comparing databases would miss some: the
// stand-in has them from the start, because only a superuser may create them. Hosted projects need them all.
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
