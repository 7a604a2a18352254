// `npm run test:release -- [areas]`: rehearses docs/releases.md, for 1.0.0 or later, in a clone of the last
// commit. It deploys a release and adds data; adds fields to listings by the recipe, with a backfill; then
// migrates, checks, tests (also with the previous functions), releases and deploys this change, and rolls it
// back. It stops at the first step that fails and prints its name. `areas` are parts of the suite, or `all`;
// by default, those that the new fields affect. The nightly workflow runs it.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hostedExtensions } from '../local/deploy/support/hosted-extensions.ts'
import { startPlatform } from '../local/deploy/support/management-api.ts'
import { runDeploy } from '../local/deploy/support/run.ts'
import { isReleased } from '../local/schema/baseline.ts'
import { connected } from '../local/schema/build.ts'
import { migrationsIn } from '../local/schema/cli.ts'
import { onTemporaryServer } from '../local/schema/temporary-server.ts'
import { filtersFor } from './suite/areas.ts'
import { addField, backfilled, column } from './suite/new-field.ts'
import { packagesFor } from './suite/packages-for.ts'
import { ownVersionIn, versionFile, versionFiles } from './suite/version-files.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const given = process.argv.slice(2)
const areas = given.includes('all') ? [] : filtersFor(
  given.length
    ? given
    : ['properties', 'local/schema/', 'test/admin/studio-tables', 'test/privacy/export'],
)

const folder = mkdtempSync(join(tmpdir(), 'release-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const clone = join(folder, 'clone')
const before = join(folder, 'before')

const git = (...args: string[]) =>
  execFileSync(
    'git',
    ['-c', 'user.name=Release', '-c', 'user.email=release@example.com', ...args],
    {
      cwd: existsSync(clone) ? clone : root,
      encoding: 'utf8',
    },
  ).trim()
const textOf = (file: string) => readFileSync(join(clone, file), 'utf8')

function npm(...args: string[]) {
  const { status } = spawnSync('npm', args, {
    cwd: clone,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ${args.join(' ')} ended with ${status}.`)
}

function release(): string {
  const { version } = JSON.parse(textOf('package.json'))
  const [major, minor] = version.split('.').map(Number)
  const next = isReleased(version) ? `${major}.${minor + 1}.0` : '1.0.0'
  for (const file of versionFiles) {
    const text = textOf(file)
    const own = ownVersionIn(file, text)
    if (!own.includes(version)) throw new Error(`${file} does not say the version, ${version}.`)
    writeFileSync(join(clone, file), own.replaceAll(version, next) + text.slice(own.length))
  }
  for (const file of ['CHANGELOG.md', 'docs/apps/changelog.md']) {
    writeFileSync(join(clone, file), textOf(file).replace('## Unreleased', `## ${next}`))
  }
  git('add', '--all')
  git('commit', '--quiet', '--message', `release: ${next}`)
  git('tag', `v${next}`)
  return next
}

const took: string[] = []
async function step<T>(what: string, work: () => T | Promise<T>): Promise<T> {
  console.log(`\n-- ${what}`)
  const began = Date.now()
  const note = () => took.push(`${((Date.now() - began) / 60_000).toFixed(1)} min  ${what}`)
  try {
    const result = await work()
    note()
    return result
  } catch (error) {
    note()
    console.error(`\n${took.join('\n')}`)
    console.error(`\nStopped at "${what}": ${error instanceof Error ? error.message : error}`)
    process.exit(1)
  }
}

const first = await step('a release', () => {
  git('clone', '--quiet', root, clone)
  packagesFor(clone, root)
  return release()
})

await step('a field of a listing by the recipe, with a backfill', () => {
  addField(clone)
  const line = '## Unreleased\n\n- listings: `parkingSpaces`\n\n'
  writeFileSync(
    join(clone, 'CHANGELOG.md'),
    textOf('CHANGELOG.md').replace(`## ${first}`, `${line}## ${first}`),
  )
  const old = migrationsIn(join(clone, 'supabase/migrations')).length
  npm('run', 'format')
  npm('run', 'db:migration', '--', column)
  npm('run', 'client:types')
  npm('run', 'docs')
  const added = migrationsIn(join(clone, 'supabase/migrations')).slice(old)
    .map((name) => name.replace(/^\d+_|\.sql$/g, ''))
  const expected = [column, 'backfills', `${column}_validated`]
  if (added.join() !== expected.join()) {
    throw new Error(`The migrations are ${added.join(', ')}, and not ${expected.join(', ')}.`)
  }
  git('add', '--all')
  git('commit', '--quiet', '--message', 'listings: parking spaces')
})

await step('npm run check', () => npm('run', 'check'))
await step('the suite', () => npm('test', '--', ...areas))
await step('npm run test:previous', () => {
  // test:previous runs neither the tests in local/ nor studio-tables, which compares lists of columns.
  const tests = areas.filter((one) => one.startsWith('test/') && !one.includes('studio-tables'))
  npm('run', 'test:previous', '--', `v${first}`, ...tests)
})
const second = await step('the next release', release)

await onTemporaryServer(async (server) => {
  const ask = (sql: string) =>
    connected(server.url, async (client) => (await client.query(sql)).rows)
  await connected(server.url, (client) => client.query(hostedExtensions))
  const platform = await startPlatform(server)
  const deploy = async (from: string, version: string, ...flags: string[]) => {
    process.chdir(from)
    const { code, output } = await runDeploy(platform, {}, ...flags)
    if (code !== 0) {
      throw new Error(`npm run deploy ${flags.join(' ')} ended with ${code}.\n${output}`)
    }
    const sent = platform.uploads.get('api')?.files.get(versionFile)
    if (!sent?.includes(`'${version}'`)) {
      throw new Error(`The functions are not those of ${version}.`)
    }
  }
  const newest = async () =>
    (await ask('select max(version) as version from supabase_migrations.schema_migrations'))[0]
      .version

  await step(`a project of ${first}, with data`, async () => {
    git('worktree', 'add', '--quiet', before, `v${first}`)
    packagesFor(before, root)
    await deploy(before, first)
    await ask(readFileSync(join(before, 'supabase/seed.sql'), 'utf8'))
  })
  await step(`deploy of ${second} on its data`, async () => {
    await deploy(clone, second)
    const [{ all, mended }] = await ask(backfilled)
    if (all === 0 || all !== mended) throw new Error(`Of ${all} listings ${mended} are mended.`)
  })
  await step(`back to ${first}`, async () => {
    const there = await newest()
    await deploy(before, first, '--without-migrations')
    if (await newest() !== there) throw new Error('The schema did not stay.')
  })
  await step(`forward to ${second} again`, () => deploy(clone, second))
  process.chdir(root)
  await platform.stop()
})

console.log(`\n${took.join('\n')}\n\nEvery step does what docs/releases.md says.`)
