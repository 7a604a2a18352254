// `npm test -- --since=<commit>`: runs the tests that changed files affect. A file affects its own area and,
// transitively, the areas of files that contain its path in an import or string. An area has the same name in
// every folder. Tests that span areas always run. If no rule covers a changed file, all tests run.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from '../../local/config/settings.ts'

export type Tree = {
  files: string[]
  read: (path: string) => string
}

const spans = 'test/whole/'
/** Files without an area; only the tests that span areas check them. */
const ofWholeOnly = /^(\.github|\.ci|bench)\/|^[A-Z]+(\.md)?$|^\.gitignore$/

const onWhichAllStand = /^sql\/(01_base\/|03_accounts\/(1_callers|2_rules_rates)\.sql$)/

/** These files refer to every area, so a change in one area does not affect the files that import them. */
const lists = ['functions/api/app.ts', 'local/functions/programs.ts']

/** Returns path filters for vitest; undefined means everything. */
export function testsFor(changed: string[], tree: Tree): string[] | undefined {
  // Generated files change with their sources.
  const written = changed.filter((path) => !isGenerated(path, tree))
  const filters = new Set([spans])
  const names = namedIn(tree)
  for (const path of written) {
    const found = [...concernedBy(path, names)].map((one) => filtersOf(one, tree))
    if (found.every((one) => one === undefined)) return undefined
    for (const filter of found.flatMap((one) => one ?? [])) filters.add(filter)
  }
  return [...filters].sort()
}

const isGenerated = (path: string, { files, read }: Tree) =>
  files.includes(path) && /\bgenerated\b/i.test(read(path).slice(0, 300).split('\n')[0]!)

type Names = Map<string, string[]>

function namedIn({ files, read }: Tree): Names {
  const names: Names = new Map()
  for (const file of files.filter((path) => path.endsWith('.ts'))) {
    for (const [, named] of read(file).matchAll(/['"`](\.\.?\/[^'"`\s]+)['"`]/g)) {
      const target = posix.join(posix.dirname(file), named!)
      names.set(target, [...names.get(target) ?? [], file])
    }
  }
  return names
}

function concernedBy(changed: string, names: Names): Set<string> {
  const found = new Set<string>()
  const visit = (path: string) => {
    if (found.has(path)) return
    found.add(path)
    if (!lists.includes(path)) names.get(path)?.forEach(visit)
  }
  visit(changed)
  return found
}

function filtersOf(path: string, { files }: Tree): string[] | undefined {
  if (ofWholeOnly.test(path)) return []
  if (path.startsWith('docs/')) return ['local/docs/']
  if (path === 'examples/web/charts.tsx') return ['test/client/', 'test/desk/']
  if (/^(client|examples)\//.test(path)) return ['test/client/']
  if (path.startsWith('desk/')) return ['test/desk/']
  // Every area depends on this file or is listed in it, so a change affects all.
  if (onWhichAllStand.test(path) || lists.includes(path)) return undefined
  const folder = /^(?:test|local)\/[\w-]+\//.exec(path)?.[0]
  if (folder) return files.some((file) => isTestIn(file, folder)) ? [folder] : undefined
  const [, area] = /^(?:sql\/\d+_|functions\/(?:api\/)?)(\w+)/.exec(path) ?? []
  if (!area) return undefined
  if (files.some((file) => isTestIn(file, `test/${area}/`))) return [`test/${area}/`]
  // The tests of some areas are in another area's folder, in files named after the area.
  const named = new RegExp(`^test/\\w+/${area}[.-].*test\\.ts$`)
  const found = files.filter((file) => named.test(file))
  return found.length ? found : undefined
}

const isTestIn = (file: string, folder: string) =>
  file.startsWith(folder) && file.endsWith('.test.ts')

export function argumentsFor(given: string[]): string[] {
  const since = given.find((one) => one.startsWith('--since='))
  if (!since) return given
  const commit = since.slice('--since='.length)
  const filters = testsFor(changedSince(commit), thisTree())
  console.log(
    `-- of what changed since ${commit}: ${filters?.join(' ') ?? 'everything'}`,
  )
  return [...filters ?? [], ...given.filter((one) => one !== since)]
}

function changedSince(commit: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
      .split('\0').filter(Boolean)
  return [
    ...git('diff', '--name-only', '--no-renames', '-z', commit, '--'),
    ...git('ls-files', '--others', '--exclude-standard', '-z'),
  ]
}

export function thisTree(): Tree {
  const skipped = new Set(['node_modules', 'site', 'dist'])
  const under = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      if (skipped.has(entry.name)) return []
      return entry.isDirectory() ? under(path) : [path]
    })
  const folders = [
    'bench',
    'client',
    'desk',
    'docs',
    'examples',
    'functions',
    'local',
    'sql',
    'supabase',
  ]
  return {
    files: [...folders, 'test'].filter((folder) => existsSync(join(root, folder))).flatMap(under),
    read: (path) => readFileSync(join(root, path), 'utf8'),
  }
}
