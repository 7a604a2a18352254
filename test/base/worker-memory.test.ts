/**
 * Workers of the functions come and go, know nothing of one another and forget all they knew. What a
 * module keeps in memory all the same stands here, with the reason why it may be forgotten; what must
 * hold is in the database.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const forgotten: Record<string, string> = {
  'api/alarms.ts said': 'keeps a storm of one alarm out of the log; a new worker says it once more',
  'api/alarms.ts unwritten': 'the log has them',
  'api/alarms.ts keep': 'given at start',
  'api/alarms.ts writing': 'what runs at the moment',
  'api/app.ts app': 'made at start from the code alone',
  'api/app.ts description': 'made from the code alone, when somebody asks',
  'api/apple.ts freshConnections': 'a client without connections',
  'api/crowd.ts taken': 'of this worker’s own connections',
  'api/crowd.ts waiting': 'of this worker’s own connections',
  'api/db.ts pool': 'connections, which are made anew',
  'api/db.ts refusedUntil': 'a new worker tries a wrong password once',
  'api/db.ts reserve': 'connections, which are made anew',
  'api/deadline.ts waiting': 'requests of this worker',
  'api/payments.ts told': 'within one request',
  'api/providers.ts freshConnections': 'a client without connections',
  'api/service.ts last': 'what was seen two seconds ago; a new worker looks itself',
  'api/storage-service.ts noted': 'the database has it; a new worker says it once more',
  'api/tokens.ts keys': 'fetched anew',
  'api/tokens.ts loading': 'what runs at the moment',
  'api/tokens.ts lastSearch': 'a new worker looks for an unknown key once',
  'api/tokens.ts remembered':
    'verified anew; what a token is worth is asked of the database always',
  'api/upload-room.ts taken': 'of this worker’s own memory',
  'api/upload-room.ts idle': 'of this worker’s own memory',
  'api/upload-room.ts waiting': 'requests of this worker',
  'api/upload-room.ts rooms': 'requests of this worker',
  'api/upload-room.ts lines':
    'protects this worker’s memory; the rate of uploads is the database’s',
  'api/worker-rates.ts reads': 'protects this worker; a promise of no number of reads in all',
  'api/worker-rates.ts refusals': 'protects this worker; what must be counted is, in the database',
  'chat/upstream.ts lines': 'connections, which are made anew as sockets come back',
  'chat/upstream.ts turnstile': 'joins that Realtime refuses for their number are made again',
  'jobs/fcm.ts freshConnections': 'a client without connections',
  'jobs/fcm.ts token': 'asked for anew',
  'jobs/fcm.ts asking': 'what runs at the moment',
  'jobs/index.ts running': 'spares a worker’s connections; two runs at once do nothing twice',
  'jobs/push.ts pausedUntil': 'for what is leased already; private.moments has it for all others',
  'jobs/push.ts lastNotice': 'keeps the log short; the alarm is one row',
  'payments/events.ts done': 'the database knows events; this spares it their repetition',
  'payments/events.ts underWay':
    'joins what runs at the moment; the database has one row of an event',
  'payments/outside.ts freshConnections': 'a client without connections',
  'payments/signing.ts keys': 'made anew from the settings',
}

const folder = fileURLToPath(new URL('../../functions', import.meta.url))

// At the top of a module: whatever can change, or begins empty to be filled.
const kept = [
  /^(?:export )?let (\w+)/,
  /^(?:export )?const (\w+)\b.*= (?:\[\]|\{\})$/,
  /^(?:export )?const (\w+)\b.*= (?:new [\w.]+(?:<.*>)?\(|Deno\.create)/,
]
// Tables that are made of constants, and what keeps nothing.
const constant =
  /= new (?:(?:Set|Map)\([^)]|(?:Set|Map)\($|RegExp|TextEncoder|TextDecoder|Int32Array|Uint8Array)/

function memory(text: string): string[] {
  return text.split('\n').filter((line) => !constant.test(line)).flatMap((line) => {
    const name = kept.map((pattern) => pattern.exec(line)?.[1]).find(Boolean)
    return name ? [name] : []
  })
}

test('every memory of a module has a reason why a worker may forget it', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
  const found = files.flatMap((file) =>
    memory(readFileSync(join(folder, file), 'utf8')).map((name) =>
      `${file.replaceAll('\\', '/')} ${name}`
    )
  )
  expect(found.sort()).toEqual(Object.keys(forgotten).sort())
})

test('what could be a memory is seen', () => {
  const code = [
    'let a = 1',
    'export let b: string | undefined',
    'const c = new Map<string, () => void>()',
    'const d: (() => void)[] = []',
    'const e = {}',
    'const f = new some.Thing(1)',
    "const g = new Set(['constant'])",
    'const h = [1]',
    '  let inner = 1',
  ]
  expect(memory(code.join('\n'))).toEqual(['a', 'b', 'c', 'd', 'e', 'f'])
})
