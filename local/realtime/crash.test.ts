import { execFile, execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@supabase/supabase-js'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createChat, realtime } from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import { completeFields } from '../../test/support/listings.ts'
import { isNightly } from '../../test/support/nightly.ts'
import { type Stack, startStack } from '../../test/support/stack.ts'
import { pause, waitUntil } from '../../test/support/wait.ts'
import { readStack } from '../config/stack.ts'
import { dropPartitions } from './support/client.ts'

let stack: Stack
let database: pg.Pool
beforeAll(async () => {
  stack = await startStack({ RATES: 'off', GATEWAYS: '0' })
  database = new pg.Pool({ connectionString: stack.databaseUrl, max: 2 })
  database.on('error', () => {})
})
afterAll(async () => {
  await database?.end()
  await stack?.stop()
})

function pidOf(word: string): number {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args=']).toString().split('\n')
  const rows = lines.map((line) => /^ *(\d+) +(\d+) (.*)$/.exec(line)?.slice(1) ?? [])
  const supervisor =
    rows.find(([, parent, command]) =>
      Number(parent) === process.pid && command!.includes('local/start.ts')
    )![0]
  const part = rows.find(([, parent, command]) => parent === supervisor && command!.includes(word))
  return Number(part![0])
}

/** Joins a private topic as a client with the secret key, to which the policies do not apply. */
async function listener() {
  const topic = randomUUID()
  const client = createClient(stack.url, stack.secretKey)
  await client.realtime.setAuth(stack.secretKey)
  const states: string[] = []
  const received: number[] = []
  client.channel(topic, { config: { private: true, broadcast: { replication_ready: true } } })
    .on('broadcast', { event: 'm' }, ({ payload }) => received.push(payload.n))
    .on('system', {}, ({ message }) => states.push(message))
    .subscribe((state) => states.push(state))
  const send = (n: number) =>
    database.query(`select realtime.send(jsonb_build_object('n', $1::int), 'm', $2)`, [n, topic])
  await waitUntil('the message arrives', () => states.at(-1) === ready)
  await send(1)
  await waitUntil('the message arrives', () => received.length === 1)
  return { client, states, received, send }
}

const ready = 'Replication connection established'

describe('clients of Realtime', () => {
  const parts = [['realtime/main.ts', 'the process'], ['services.ts', 'the proxy']]
  test.for(parts)('reconnect by themselves after %s was killed: %s', async ([word]) => {
    const { client, states, received, send } = await listener()
    process.kill(pidOf(word!), 'SIGKILL')
    await waitUntil('it is reported', () => states.includes('CHANNEL_ERROR'))
    await waitUntil('messages arrive again', () => states.at(-1) === ready)
    // From here on, no message is lost.
    for (let n = 2; n < 50; n++) await send(n)
    await waitUntil('all messages arrive', () => received.length === 49)
    expect(received).toEqual([...Array(49).keys()].map((n) => n + 1))
    await client.realtime.disconnect()
  })

  test('are not notified when the database is killed, and later receive its messages again', async () => {
    const { client, states, received, send } = await listener()
    const before = [...states]
    const realtime = pidOf('realtime/main.ts')
    const killed = pidOf('postgres')
    process.kill(killed, 'SIGKILL')
    await waitUntil('it runs again', () => pidOf('postgres') !== killed)
    let n = 1
    await waitUntil('it is heard again', async () => {
      await send(n + 1)
      n++
      return received.length > 1
    })
    expect(states).toEqual(before)
    // It is still the same process, which has waited until the database was back.
    expect(pidOf('realtime/main.ts')).toBe(realtime)
    await client.realtime.disconnect()
  })
})

/** Puts this stack in the state of a project without partitions: nobody has joined for three days. */
async function forgetJoins() {
  const { port } = new URL(stack.url)
  const { databaseUrl } = readStack({ ...process.env, PORT: port, LOCAL_DATA: stack.folder })
  const owner = new pg.Pool({ connectionString: databaseUrl('supabase_admin'), max: 1 })
  await dropPartitions(owner)
  await owner.end()
  const before = pidOf('realtime/main.ts')
  process.kill(before, 'SIGKILL')
  await waitUntil('it runs again', async () => {
    const headers = { apikey: stack.publishableKey }
    const { ok } = await fetch(`${stack.url}/realtime/v1/api/ping`, { headers })
    return ok && pidOf('realtime/main.ts') !== before
  })
}

describe('the first join of a project, which is refused', () => {
  const anybody = async () => {
    const app = createApp({ url: stack.url })
    const who = { identifier: `${randomUUID()}@example.com`, password: randomUUID() }
    await app.auth.register(who)
    await app.auth.signIn(who)
    return app
  }

  test('is made again by the client', async () => {
    const [owner, buyer] = [await anybody(), await anybody()]
    const { id: propertyId } = await owner.post('/properties', {
      body: { ...completeFields.SALE, type: 'SALE', publish: true },
    })
    const { id } = await buyer.post('/conversations', { body: { propertyId } })
    await forgetJoins()
    const supabase = createClient(stack.url, stack.publishableKey, {
      accessToken: async () => await owner.auth.accessToken() ?? null,
    })
    const chat = createChat(owner, { link: realtime(supabase, { visible: () => false }) })
    const shown: string[] = []
    const errors: string[] = []
    chat.on('new_message', ({ message }) => shown.push(message.body))
    chat.on('error', ({ code }) => errors.push(code))
    await chat.join(id, { afterSeq: 0 })
    const said = []
    const joined = () => supabase.getChannels().map(({ state }) => state).join() === 'joined,joined'
    for (let n = 0; n < 20 || !joined(); n++) {
      said.push(String(n))
      const body = { clientMessageId: randomUUID(), type: 'text' as const, body: String(n) }
      await buyer.post('/conversations/{id}/messages', { path: { id }, body })
      await pause(50, 'any moment is right')
    }
    await waitUntil('all are shown', () => shown.length === said.length)
    expect([shown, errors]).toEqual([said, []])
    chat.close()
    await supabase.realtime.disconnect()
  })

  // Normal runs test the tour only with all partitions present (test/whole/tour.alone.test.ts).
  test.runIf(isNightly)('is made again by the tour', async () => {
    await forgetJoins()
    const program = fileURLToPath(new URL('../../test/tour.ts', import.meta.url))
    const env = { ...process.env, LOCAL_DATA: stack.folder }
    const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
    expect(stdout).toMatch(/✓ \d+ steps, all as the contract says\./)
  })
})
