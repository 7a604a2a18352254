// Imports run one way, types included, and no file or area reaches itself by them. Tests wait by
// test/support/wait.ts.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from './config/settings.ts'

const base = ['local/config', 'local/http', 'local/processes']
const shared = 'functions/_shared'

/**
 * What the files of each folder may import besides one another. A stand-in takes nothing from the
 * functions: one that parsed by their code would share their faults, and no test would see them.
 */
const mayImport: Record<string, string[]> = {
  'functions/_shared': [],
  'functions/payments': [shared],
  'functions/pictures': [shared],
  'functions/api/http': [shared],
  'functions/api': ['functions/api/http', 'functions/payments', 'functions/pictures', shared],
  'functions/chat': ['functions/payments', 'functions/pictures', shared],
  'functions/jobs': ['functions/payments', 'functions/pictures', shared],
  'local/config': [],
  'local/http': ['local/config'],
  'local/processes': ['local/config'],
  'local/platform': ['local/config'],
  'local/postgres': ['local/platform', 'local/processes', 'local/config'],
  'local/auth': ['local/postgres', 'local/platform', ...base],
  'local/storage': ['local/postgres', 'local/platform', ...base],
  'local/realtime': ['local/platform', ...base],
  'local/data-api': base,
  'local/inbox': base,
  // It runs the gateway, and answers as early as the facade's own process does.
  'local/functions': ['functions/chat', 'functions/api/http', ...base],
  'local/proxy': [
    'local/auth',
    'local/storage',
    'local/realtime',
    'local/data-api',
    'local/functions',
    'local/docs',
    ...base,
  ],
  'local/demo': ['local/storage', 'local/config'],
  'local/stack': [
    'local/demo',
    'local/proxy',
    'local/auth',
    'local/storage',
    'local/functions',
    'local/inbox',
    'local/schema',
    'local/postgres',
    'local/platform',
    ...base,
  ],
  // These are about the functions: they describe, ask for and check what these read.
  'local/docs': [shared, 'local/http', 'local/config'],
  'local/schema': [shared, 'local/postgres', 'local/config'],
  'local/deploy': [shared, 'local/schema', 'local/postgres', 'local/config'],
  'local/bundle': ['local/config'],
}

type Graph = Map<string, Set<string>>

const isTest = (file: string) => /\.test\.ts$|\/support\//.test(file)

const files = ['functions', 'local'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
).filter((file) => file.endsWith('.ts') && !isTest(file))

const importPattern =
  /^(?:import|export)\b[^'"]*?\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)|^import '(\.[^']+)'/gm

const imports: Graph = new Map(files.map((file) => {
  const text = readFileSync(join(root, file), 'utf8')
  const targets = [...text.matchAll(importPattern)].map((match) =>
    posix.join(posix.dirname(file), match[1] ?? match[2] ?? match[3]!)
  )
  return [file, new Set(targets)]
}))

const rooms = Object.keys(mayImport).sort((a, b) => b.length - a.length)
/** The folder of the list that a file is in, or the file itself. */
const roomOf = (file: string) => rooms.find((room) => file.startsWith(`${room}/`)) ?? file

/** The area of a file of the facade: its folder, or the file itself. */
const areaOf = (file: string) => file.split('/').slice(0, 3).join('/').replace(/\.ts$/, '')

function circlesIn(graph: Graph): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (node: string, path: string[]) => {
    if (path.includes(node)) {
      return void circles.push([...path.slice(path.indexOf(node)), node].join(' -> '))
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return circles
}

const areas: Graph = new Map()
const faults: string[] = []
for (const [file, targets] of imports) {
  for (const target of targets) {
    const [from, to] = [roomOf(file), roomOf(target)]
    // What is in no folder, such as start.ts, may import all, and nobody it.
    const allowed = from === to || !(from in mayImport) || mayImport[from]!.includes(to)
    if (!allowed) faults.push(`up: ${file} -> ${target}`)
    if (from !== 'functions/api' || to !== from || areaOf(file) === areaOf(target)) continue
    areas.set(areaOf(file), (areas.get(areaOf(file)) ?? new Set()).add(areaOf(target)))
  }
}
faults.push(...circlesIn(imports).map((circle) => `circle: ${circle}`))
faults.push(...circlesIn(areas).map((circle) => `circle of areas: ${circle}`))

/** By what a program lets time pass. */
const sleeps =
  /\b(?:setTimeout|setInterval|waitForTimeout|pg_sleep|(?:Atomics|scheduler)\.wait)|['"`]sleep\b/g

const hostile = 'what somebody sends, which nothing runs'

/** Files of tests that let time pass by themselves or only name it: by which words, and why. */
const ownSleep: Record<string, [why: string, ...words: string[]]> = {
  'test/support/wait.ts': ['what the others do it by', 'setTimeout'],
  'test/suite/repetitions.ts': [
    'a pause between tries of a registry, outside any test',
    'setTimeout',
  ],
  'test/suite/slower.ts': ['the turns of what it slows', 'setTimeout', 'setInterval'],
  'test/suite/jobs-at-random.ts': ['the moments of jobs, outside any test', 'setTimeout'],
  'test/client/first-day.ts': [
    'a program of strangers, who have the package of the client alone',
    'setTimeout',
  ],
  'test/client/first-day-on-server.ts': ['the same', 'setTimeout'],
  'test/client/react-native.test.ts': ['what that engine has', 'setTimeout', 'setInterval'],
  'test/chat/client.test.ts': ['the clock that the test moves', 'setTimeout'],
  'test/media/slow.test.ts': ['who sends a byte from time to time is the subject', 'setInterval'],
  'test/base/replica.alone.test.ts': ['what the scheduler does elsewhere', 'setInterval'],
  'test/base/purges.alone.test.ts': ['a step that never ends in its time', 'pg_sleep'],
  'test/search/words.test.ts': [hostile, 'pg_sleep'],
  'test/whole/input-hostile.test.ts': [hostile, 'pg_sleep'],
  'test/whole/doors.test.ts': ['a function that nobody can call', 'pg_sleep'],
  'local/functions/workers.test.ts': ['in the text of an edge function', 'setTimeout'],
  'local/deploy/deploy.test.ts': ['it looks at every process meanwhile', 'setInterval'],
  'local/processes/progress.test.ts': ['in the text of a process that does nothing', 'setInterval'],
}

const testFiles = ['test', 'local'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
).filter((file) => file.endsWith('.ts') && (file.startsWith('test/') || isTest(file)))
for (const file of testFiles) {
  const found = new Set(readFileSync(join(root, file), 'utf8').match(sleeps) ?? [])
  const [, ...allowed] = ownSleep[file] ?? ['']
  for (const word of found) {
    if (allowed.includes(word)) continue
    faults.push(`sleeps by itself (${word}), and not by test/support/wait.ts: ${file}`)
  }
  for (const word of allowed) {
    if (!found.has(word)) faults.push(`does not sleep by ${word} any more: ${file}`)
  }
}
for (const file of Object.keys(ownSleep)) {
  if (!testFiles.includes(file)) faults.push(`a reason for a sleep of no file: ${file}`)
}

for (const fault of faults) console.log(fault)
process.exitCode = faults.length ? 1 : 0
