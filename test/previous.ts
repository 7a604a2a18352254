// `npm run test:previous -- [version] [vitest arguments]` (MIG-04): during a rollout or rollback, the
// previous version's functions run on the new schema. This runs that version's functions, gateway and tests
// on the current migrations. The version is a commit, by default the last release. Its tests ignore fields
// that it does not know (NEWER_SCHEMA). Run this before a release: if a test fails, schema and functions
// must be deployed within the same minute, and the changelog must say so.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lastRelease } from '../local/schema/baseline.ts'
import { packagesFor } from './suite/packages-for.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function release(): string {
  const commit = lastRelease(root)
  if (commit) return commit
  console.error('There is no release yet. Say which commit: npm run test:previous -- <commit>')
  process.exit(1)
}

// These tests only compare the schema with lists, which the new schema need not match.
const ofTheSchema = [
  'test/admin/studio-tables.test.ts',
  'test/base/expressions.test.ts',
  'test/base/forgetting.test.ts',
  'test/whole/doors.test.ts',
  'test/whole/growth-table.test.ts',
]

/** Returns a version's tests, except those of the local stack, which do not depend on the schema. */
const testsIn = (folder: string, named: string[]) =>
  globSync('test/**/*.test.ts', { cwd: folder }).map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !ofTheSchema.includes(path))
    .filter((path) => !named.length || named.some((one) => path.includes(one)))

const given = process.argv.slice(2)
const version = given[0] && !/^-|\//.test(given[0]) ? given.shift()! : release()
const folder = mkdtempSync(join(tmpdir(), 'previous-version-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

execFileSync('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', version, folder], { cwd: root })
rmSync(join(folder, 'supabase', 'migrations'), { recursive: true })
cpSync(join(root, 'supabase', 'migrations'), join(folder, 'supabase', 'migrations'), {
  recursive: true,
})
packagesFor(folder, root)

console.log(`-- functions and tests of ${version} on the migrations of now`)
const options = given.findIndex((one) => one.startsWith('-'))
const named = given.slice(0, options < 0 ? given.length : options)
// Lists the files, because vitest ignores --exclude in projects with their own `exclude`.
const tests = testsIn(folder, named)
if (!tests.length) {
  console.error(`Of ${named.join(' ')} the version ${version} has no tests that this runs.`)
  process.exit(1)
}
const args = ['vitest', 'run', '--project', 'areas', ...tests]
process.exitCode = spawnSync(
  'npm',
  ['exec', '--no', '--', ...args, ...given.slice(named.length)],
  {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
    env: { ...process.env, NEWER_SCHEMA: '1' },
  },
).status ?? 1
