// Checks that folders import only from the folders listed below, that there are no circular imports (type
// imports count), and that tests wait only with the functions of test/support/wait.ts.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from './config/settings.ts'
import { runAsCommand } from './schema/run-as-command.ts'

const base = ['local/config', 'local/http', 'local/processes']

const inShared = (room: string) => `functions/_shared/${room}`
const shared = [
  'errors',
  'input',
  'settings',
  'caller',
  'database',
  'figures',
  'outside',
  'auth',
  'chat',
].map(inShared)

// Stand-ins must not import from functions/, because no test would notice a bug in the shared code.
const mayImport: Record<string, string[]> = {
  ...Object.fromEntries(shared.map((room, nth) => [room, shared.slice(0, nth)])),
  'functions/payments': shared,
  'functions/pictures': shared,
  'functions/api/http': shared,
  'functions/api': ['functions/api/http', 'functions/payments', 'functions/pictures', ...shared],
  'functions/chat': ['functions/payments', 'functions/pictures', ...shared],
  'functions/jobs': ['functions/payments', 'functions/pictures', ...shared],
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
  // local/functions runs the chat gateway, and drains request bodies with the facade's code.
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
  // These folders use the settings, errors and routes that the functions declare.
  'local/docs': [
    inShared('errors'),
    inShared('settings'),
    'functions/api/http',
    'local/schema',
    'local/http',
    'local/config',
  ],
  'local/schema': [inShared('settings'), 'local/postgres', 'local/config'],
  'local/deploy': [inShared('settings'), 'local/schema', 'local/postgres', 'local/config'],
  'local/bundle': ['local/config'],
}

type Graph = Map<string, Set<string>>

const isTest = (file: string) => /\.test\.ts$|\/support\//.test(file)

const importPattern =
  /^(?:import|export)\b[^'"]*?\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)|^import '(\.[^']+)'/gm

function importsIn(files: Map<string, string>): Graph {
  return new Map([...files].map(([file, text]) => {
    const targets = [...text.matchAll(importPattern)].map((match) =>
      posix.join(posix.dirname(file), match[1] ?? match[2] ?? match[3]!)
    )
    return [file, new Set(targets)]
  }))
}

const rooms = Object.keys(mayImport).sort((a, b) => b.length - a.length)
const roomOf = (file: string) => rooms.find((room) => file.startsWith(`${room}/`)) ?? file

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

/** Returns the forbidden imports in these files (a map from path to text). */
export function importFaults(files: Map<string, string>): string[] {
  const imports = importsIn(files)
  const areas: Graph = new Map()
  const faults: string[] = []
  for (const [file, targets] of imports) {
    for (const target of targets) {
      const [from, to] = [roomOf(file), roomOf(target)]
      // Files outside these folders, such as start.ts, may import anything but must not be imported.
      const allowed = from === to || !(from in mayImport) || mayImport[from]!.includes(to)
      if (!allowed) faults.push(`up: ${file} -> ${target}`)
      if (from !== 'functions/api' || to !== from || areaOf(file) === areaOf(target)) continue
      areas.set(areaOf(file), (areas.get(areaOf(file)) ?? new Set()).add(areaOf(target)))
    }
  }
  faults.push(...circlesIn(imports).map((circle) => `circle: ${circle}`))
  faults.push(...circlesIn(areas).map((circle) => `circle of areas: ${circle}`))
  return faults
}

const sleeps =
  /\b(?:setTimeout|setInterval|waitForTimeout|pg_sleep|(?:Atomics|scheduler)\.wait)|['"`]sleep\b/g

const hostile = 'The word is part of hostile input, which nothing runs.'

/** Test files that may use a timer or contain a timer's name, with the reason and the allowed names. */
const ownSleep: Record<string, [why: string, ...words: string[]]> = {
  'test/support/wait.ts': ['All other waits use its functions.', 'setTimeout'],
  'test/suite/repetitions.ts': ['It pauses before it asks an outside service again.', 'setTimeout'],
  'test/suite/slower.ts': [
    'It stops and continues processes in turns.',
    'setTimeout',
    'setInterval',
  ],
  'test/suite/jobs-at-random.ts': ['It starts jobs at random moments.', 'setTimeout'],
  'test/client/first-day.ts': ['It uses nothing but the installed client package.', 'setTimeout'],
  'test/client/first-day-on-server.ts': [
    'It runs first-day.ts without the helpers of the tests.',
    'setTimeout',
  ],
  'test/client/react-native.test.ts': [
    'It lists the timers of React Native.',
    'setTimeout',
    'setInterval',
  ],
  'test/chat/client.test.ts': ['The test advances this clock itself.', 'setTimeout'],
  'test/media/slow.test.ts': ['The test sends a byte from time to time.', 'setInterval'],
  'test/base/replica.alone.test.ts': [
    'It records the time once a second, as pg_cron would.',
    'setInterval',
  ],
  'test/base/purges.alone.test.ts': ['A planted step exceeds its time limit.', 'pg_sleep'],
  'test/search/words.test.ts': [hostile, 'pg_sleep'],
  'test/whole/input-hostile.test.ts': [hostile, 'pg_sleep'],
  'test/whole/doors.test.ts': ['The test shows that clients cannot call pg_sleep.', 'pg_sleep'],
  'local/functions/workers.test.ts': ['The word is in the text of an edge function.', 'setTimeout'],
  'local/deploy/deploy.test.ts': [
    'It reads the command lines of all processes at intervals.',
    'setInterval',
  ],
  'local/processes/progress.test.ts': [
    'The word is in the text of an idle process.',
    'setInterval',
  ],
}

function sleepFaults(files: Map<string, string>): string[] {
  const faults: string[] = []
  for (const [file, text] of files) {
    const found = new Set(text.match(sleeps) ?? [])
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
    if (!files.has(file)) faults.push(`a reason for a sleep of no file: ${file}`)
  }
  return faults
}

const read = (folders: string[], isIncluded: (file: string) => boolean) =>
  new Map(
    folders.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    ).filter((file) => file.endsWith('.ts') && isIncluded(file))
      .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
  )

await runAsCommand(import.meta.url, () => {
  const faults = [
    ...importFaults(read(['functions', 'local'], (file) => !isTest(file))),
    ...sleepFaults(read(['test', 'local'], (file) => file.startsWith('test/') || isTest(file))),
  ]
  for (const fault of faults) console.log(fault)
  process.exitCode = faults.length ? 1 : 0
})
