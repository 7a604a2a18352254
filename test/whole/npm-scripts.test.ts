import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const at = (path: string) => new URL(`../../${path}`, import.meta.url)
const scriptsOf = (path: string) => JSON.parse(readFileSync(at(path), 'utf8')).scripts
const scripts = scriptsOf('package.json')
const all = { ...scripts, ...scriptsOf('examples/web/package.json') }
const workflows = ['.github/workflows/ci.yml', '.github/workflows/nightly.yml']
const docs = [
  'README.md',
  'CONTRIBUTING.md',
  'docs/apps.md',
  'docs/conventions.md',
  'docs/releases.md',
  'docs/tests.md',
  'docs/deploy.md',
  'CHANGELOG.md',
  ...workflows,
]
  .map((path) => [path, readFileSync(at(path), 'utf8')] as const)

test.each(Object.entries<string>(scripts))('npm run %s runs a file that exists', (_, line) => {
  const files = line.split(' ').filter((word) => /\.[jt]s$|^\.\//.test(word))
  expect(files.length).toBeGreaterThan(0)
  for (const file of files) expect(existsSync(at(file)), file).toBe(true)
})

test.each(docs)('%s names only scripts that exist', (_, text) => {
  const named = [...text.matchAll(/npm run\s+(?:-s )?([\w:]+)/g)].map(([, name]) => name)
  expect(named.filter((name) => !Object.hasOwn(all, name!))).toEqual([])
})

test.each(workflows)('%s names only files that exist', (path) => {
  const text = readFileSync(at(path), 'utf8')
  for (const [named] of text.matchAll(/\b(test|local)\/[\w./-]+\.\w+/g)) {
    expect(existsSync(at(named)), named).toBe(true)
  }
})

test('the settings file of deploy stays out of git', () => {
  expect(readFileSync(at('.gitignore'), 'utf8').split('\n')).toContain('deploy.env')
  expect(scripts.deploy).toContain('--env-file-if-exists=deploy.env')
})
