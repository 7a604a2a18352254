// Runs squawk over every migration after the first, which builds an empty database where nothing can
// be blocked: whether it would block users or break the code that still runs. Its findings are compared with the exceptions in test/whole/squawk.json.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Finding } from './advisors.ts'
import { migrationsIn, root } from './cli.ts'

const excludedRules = [
  // A file is one transaction: what fails part way leaves nothing.
  'prefer-robust-stmts',
  // The role that applies migrations has a limit of its own (2 minutes on hosted projects).
  'require-statement-timeout',
  // Matters of taste, which the reviewed schema decides.
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-text-field',
]

type Found = { file: string; line: number; message: string; rule_name: string }

/** What squawk finds in the migrations of a folder; `object` is the migration's name. */
export async function lint(folder: string): Promise<Finding[]> {
  const files = migrationsIn(folder).slice(1)
  const alone = (name: string) => / CONCURRENTLY /.test(readFileSync(join(folder, name), 'utf8'))
  const found = [
    ...await squawk(folder, files.filter((name) => !alone(name)), ['--assume-in-transaction']),
    // Nobody waits behind them, and a limit would only leave an index that is not valid.
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
    // It ends with 1 when it found something.
    if (error.code === 1 && error.stdout) return error as { stdout: string }
    throw error
  })
  return JSON.parse(stdout)
}
