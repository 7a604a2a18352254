// Checks that the functions' three package lists (for Deno, for npm and for the hosted bundler) agree.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../config/settings.ts'
import { lockFile } from './lock.ts'
import { lockedPackages } from './registry.ts'

type Names = Record<string, string>

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const problems: string[] = []

const { imports }: { imports: Names } = read(join(root, 'functions', 'deno.json'))
const { dependencies }: { dependencies: Names } = read(join(root, 'package.json'))
const imported: Names = {}
for (const [name, target] of Object.entries(imports)) {
  const [, at, version] = /^npm:\/?((?:@[^/]+\/)?[^@/]+)@(\d+\.\d+\.\d+)\/?$/.exec(target) ?? []
  if (at !== name.replace(/\/$/, '')) problems.push(`functions/deno.json: ${name} is ${target}`)
  else if (imported[at] && imported[at] !== version) problems.push(`${at} has two versions`)
  else imported[at] = version
}
for (const name of new Set([...Object.keys(imported), ...Object.keys(dependencies)])) {
  if (imported[name] === dependencies[name]) continue
  problems.push(
    `${name} is ${imported[name]} in functions/deno.json, ${dependencies[name]} among the ` +
      'dependencies of package.json',
  )
}

const text = readFileSync(lockFile, 'utf8')
const lock: {
  version: string
  npm: Record<string, { integrity: string }>
  workspace: { dependencies: string[] }
} = JSON.parse(text)
// The bundler of hosted projects rejects newer versions of the lock file.
if (lock.version !== '4') problems.push(`functions/deno.lock has version ${lock.version}`)
if (text.includes('://')) problems.push('functions/deno.lock names where packages come from')
const expected = Object.entries(imported).map(([name, version]) => `npm:${name}@${version}`)
if (String(lock.workspace.dependencies) !== String(expected.sort())) {
  problems.push('functions/deno.lock is not of this functions/deno.json')
}
const installed = lockedPackages()
for (const [id, { integrity }] of Object.entries(lock.npm)) {
  const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(id)!
  const here = installed.filter((one) => one.name === name)
  if (here.some((one) => one.version === version && one.integrity === integrity)) continue
  const versions = here.map((one) => one.version).join(' and ')
  problems.push(`${name} is ${version} in functions/deno.lock, ${versions} in package-lock.json`)
}

for (const fault of problems) console.log(fault)
if (problems.length) console.log('`npm run functions:lock` regenerates functions/deno.lock.')
process.exitCode = problems.length ? 1 : 0
