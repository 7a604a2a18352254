// Workers share no memory, and lose theirs when they end. This list has all module-level state and the reason
// why it may be lost; lasting data is in the database.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const forgotten: Record<string, string> = {
  '_shared/errors/alarms.ts lastRaised':
    'keeps a storm of one alarm out of the log; a new worker says it once more',
  '_shared/errors/alarms.ts unsaved': 'the log has them',
  '_shared/errors/alarms.ts save': 'given at start',
  '_shared/errors/alarms.ts settle': 'given at start',
  '_shared/errors/alarms.ts saving': 'what runs at the moment',
  '_shared/errors/log.ts current': 'the requests that run at the moment',
  '_shared/errors/log.ts regionName': 'a setting, read at start',
  '_shared/figures/metrics.ts counted': 'given at start, of a process that stays',
  '_shared/figures/metrics.ts last': 'figures of two seconds',
  'api/http/figures.ts errors': 'counted anew: Prometheus knows that a counter may begin again',
  'api/http/figures.ts inFlight': 'what runs at the moment',
  'api/http/figures.ts requests': 'counted anew',
  'api/http/figures.ts times': 'counted anew',
  'chat/server/figures.ts closings': 'counted anew',
  'chat/server/figures.ts errors': 'counted anew',
  'chat/server/figures.ts frames': 'counted anew',
  'chat/server/figures.ts handshakes': 'counted anew',
  'chat/server/figures.ts lateUpdates': 'counted anew',
  'chat/server/figures.ts realtimeBreaks': 'counted anew',
  'jobs/alarms.ts service': 'a setting, read at start',
  'api/app.ts app': 'made at start from the code alone',
  'api/app.ts description': 'made from the code alone, when somebody asks',
  'api/app.ts events': 'made from the code alone, when somebody asks',
  '_shared/outside/http-client.ts freshConnections': 'a client without connections',
  '_shared/outside/http-client.ts pooledConnections': 'connections that the next worker opens anew',
  '_shared/errors/error-body.ts arabicPlural': 'made from the code alone',
  '_shared/input/texts.ts graphemes': 'made from the code alone',
  'api/http/search-queue.ts inFlight': 'what runs at the moment',
  'api/main.ts background': 'a process, which ends when all of it is done',
  'api/main.ts stopping': 'a process, which ends by it',
  'api/main.ts server': 'a process, which listens anew',
  'chat/main.ts stopping': 'a process, which ends by it',
  '_shared/database/pools.ts pool': 'connections, which are made anew',
  '_shared/database/pools.ts reservePool': 'connections, which are made anew',
  '_shared/database/replicas.ts systemId': 'asked anew',
  '_shared/database/replicas.ts turn': 'any replica may be the first',
  '_shared/chat/store-message.ts waiting': 'requests of this worker',
  '_shared/chat/store-message.ts onTheirWay': 'requests of this worker',
  '_shared/chat/store-message.ts newest': 'some of them',
  '_shared/errors/timeout.ts clock': 'runs while somebody waits',
  '_shared/errors/timeout.ts waiting': 'requests of this worker',
  'api/billing/routes-payments.ts verifiedEvents': 'within one request',
  'api/base.ts last': 'what was seen two seconds ago; a new worker looks itself',
  '_shared/outside/supabase-storage.ts saved':
    'the database has it; a new worker says it once more',
  '_shared/auth/tokens.ts lastGood': 'fetched anew',
  '_shared/auth/tokens.ts loadedAt': 'fetched anew',
  '_shared/auth/tokens.ts lastSearch': 'a new worker looks for an unknown key once',
  '_shared/auth/tokens.ts remembered':
    'verified anew; what a token is worth is asked of the database always',
  'api/media/upload-memory.ts allocated': 'of this worker’s own memory',
  'api/media/upload-memory.ts idle': 'of this worker’s own memory',
  'api/media/upload-memory.ts waiting': 'requests of this worker',
  'api/media/upload-memory.ts buffers': 'requests of this worker',
  'api/media/upload-memory.ts queues':
    'protects this worker’s memory; the rate of uploads is the database’s',
  'api/http/worker-rates.ts misses':
    'numbers of listings are guessed as often as there are workers: what they show is public',
  'api/http/worker-rates.ts refusals':
    'protects this worker; what must be counted is, in the database',
  'chat/server/realtime-connection.ts connections':
    'connections, which are made anew as sockets come back',
  'chat/server/realtime-channel.ts joinLimiter':
    'joins that Realtime refuses for their number are made again',
  'jobs/fcm.ts token': 'asked for anew',
  'jobs/fcm.ts pendingToken': 'what runs at the moment',
  'jobs/index.ts running': 'spares a worker’s connections; two runs at once do nothing twice',
  'jobs/push.ts pausedUntil':
    'for what is leased already; private.timestamps has it for all others',
  'jobs/push.ts lastNotice': 'keeps the log short; the alarm is one row',
  'payments/events.ts finished': 'the database knows events; this spares it their repetition',
  'payments/events.ts underWay':
    'joins what runs at the moment; the database has one row of an event',
}

const folder = fileURLToPath(new URL('../../functions', import.meta.url))

// Matches module-level variables that can change or that start out empty.
const stateful = [
  /^(?:export )?let (\w+)/,
  /^(?:export )?const (\w+)\b.*= (?:\[\]|\{\})$/,
  /^(?:export )?const (\w+)\b.*= (?:new [\w.]+(?:<.*>)?\(|Deno\.create|createHttpClient\b)/,
]
// Matches constant tables, and objects without state.
const constant =
  /= new (?:(?:Set|Map)\([^)]|(?:Set|Map)\($|RegExp|TextEncoder|TextDecoder|Int32Array|Uint8Array)/

function memory(text: string): string[] {
  return text.split('\n').filter((line) => !constant.test(line)).flatMap((line) => {
    const name = stateful.map((pattern) => pattern.exec(line)?.[1]).find(Boolean)
    return name ? [name] : []
  })
}

test('every module-level variable has a reason why a worker may forget it', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
  const found = files.flatMap((file) =>
    memory(readFileSync(join(folder, file), 'utf8')).map((name) =>
      `${file.replaceAll('\\', '/')} ${name}`
    )
  )
  expect(found.sort()).toEqual(Object.keys(forgotten).sort())
})

test('module-level state is detected', () => {
  const code = [
    'let a = 1',
    'export let b: string | undefined',
    'const c = new Map<string, () => void>()',
    'const d: (() => void)[] = []',
    'const e = {}',
    'const f = new some.Thing(1)',
    'const i = createHttpClient?.({})',
    "const g = new Set(['constant'])",
    'const h = [1]',
    '  let inner = 1',
  ]
  expect(memory(code.join('\n'))).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'i'])
})
