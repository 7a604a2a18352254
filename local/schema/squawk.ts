// Runs squawk on every migration except the first (which runs on an empty database), to find statements that
// block users or break running code. test/whole/squawk.json lists the findings that are accepted.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Finding } from './advisors.ts'
import { migrationsIn, root } from './cli.ts'

const excludedRules = [
  // A file is applied in one transaction, so a failure leaves nothing behind.
  'prefer-robust-stmts',
  // The role that applies migrations has a statement timeout (2 minutes on hosted projects).
  'require-statement-timeout',
  // These rules are matters of taste. The review of the schema has decided otherwise.
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-text-field',
]

type Found = { file: string; line: number; message: string; rule_name: string }

/** Returns squawk's findings in a folder's migrations; `object` is the migration's name. */
export async function lint(folder: string): Promise<Finding[]> {
  const files = migrationsIn(folder).slice(1)
  const alone = (name: string) => / CONCURRENTLY /.test(readFileSync(join(folder, name), 'utf8'))
  const found = [
    ...await squawk(folder, files.filter((name) => !alone(name)), ['--assume-in-transaction']),
    // Files without a transaction block nobody, and a lock timeout in them would only leave an invalid index.
    ...await squawk(folder, files.filter(alone), ['--exclude=require-lock-timeout']),
  ]
  return found.map(({ file, line, message, rule_name: rule }) => ({
    lint: rule,
    object: file.replace(/^.*\/\d{14}_|\.sql$/g, ''),
    detail: `${message} (line ${line + 1})`,
  }))
}

async function squawk(folder: string, files: string[], options: string[]): Promise<Found[]> {
  if (!files.length) return []
  const { stdout } = await promisify(execFile)(
    join(root, 'node_modules', '.bin', 'squawk'),
    [
      ...['--reporter', 'json', '--pg-version', '17', ...options],
      ...excludedRules.map((rule) => `--exclude=${rule}`),
      ...files.map((name) => join(folder, name)),
    ],
    { maxBuffer: 64 << 20 },
  ).catch((error) => {
    // squawk exits with 1 if there are findings.
    if (error.code === 1 && error.stdout) return error as { stdout: string }
    throw error
  })
  return JSON.parse(stdout)
}
