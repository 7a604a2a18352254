/**
 * `npm run test:previous -- [version] [arguments of vitest]` (MIG-04): while a version is rolled out, and when
 * it is rolled back, its schema serves the functions of the version before. This runs that version's
 * functions, gateway and tests on the migrations of now. Without an argument it takes the last
 * release; any commit will do. To be run before a release: a change that fails here needs its functions
 * deployed in the same minute, which the changelog then says.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lastRelease } from '../local/schema/baseline.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

function release(): string {
  const commit = lastRelease(root)
  if (commit) return commit
  console.error('There is no release yet. Say which commit: npm run test:previous -- <commit>')
  process.exit(1)
}

// What looks at sql/, at migrations or at lists of what there is, and not at what it does.
const ofTheSchema = ['schema', 'migrations', 'upgrade', 'seed', 'demo-data', 'deploy']

const given = process.argv.slice(2)
const version = given[0] && !/^-|\//.test(given[0]) ? given.shift()! : release()
const folder = mkdtempSync(join(tmpdir(), 'previous-version-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

execFileSync('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', version, folder], { cwd: root })
rmSync(join(folder, 'supabase', 'migrations'), { recursive: true })
cpSync(join(root, 'supabase', 'migrations'), join(folder, 'supabase', 'migrations'), {
  recursive: true,
})
const run = (command: string, ...args: string[]) =>
  spawnSync(command, args, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' })
    .status ?? 1

console.log(`-- functions and tests of ${version} on the migrations of now`)
process.exitCode = run('npm', 'ci', '--no-audit', '--no-fund') || run(
  'npm',
  ...['exec', '--no', '--', 'vitest', 'run', '--project', 'areas'],
  ...ofTheSchema.flatMap((name) => ['--exclude', `**/${name}.test.ts`]),
  ...given,
)
