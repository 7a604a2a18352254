/** Realtime on a stack of its own: its process or the database killed under clients that are joined. */
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Stack, startStack } from '../stack.ts'
import { until } from '../until.ts'

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

/** The part of this stack that has such a word in its command. */
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

describe('clients of Realtime come back by themselves', () => {
  const parts = [['realtime.ts', 'the process'], ['postgres', 'the database'], [
    'services.ts',
    'the gateway',
  ]]
  test.for(parts)('after %s was killed: %s', async ([word]) => {
    const topic = randomUUID()
    const client = createClient(stack.url, stack.publishableKey)
    const states: string[] = []
    const got: number[] = []
    client.channel(topic)
      .on('broadcast', { event: 'm' }, ({ payload }) => got.push(payload.n))
      .subscribe((state) => states.push(state))
    await until('it is joined', () => states.at(-1) === 'SUBSCRIBED')
    const send = (n: number) =>
      database.query(`select realtime.send(jsonb_build_object('n', $1::int), 'm', $2, false)`, [
        n,
        topic,
      ])
    await send(1)
    await until('it hears', () => got.length === 1)
    const realtime = pidOf('realtime.ts')
    process.kill(pidOf(word!), 'SIGKILL')
    await until('it is told', () => states.at(-1) === 'CHANNEL_ERROR')
    await until('it is joined again', () => states.at(-1) === 'SUBSCRIBED')
    // From then on nothing is lost, whatever was before.
    for (let n = 2; n < 50; n++) await until('it is sent', () => send(n).then(() => true))
    await until('it hears all of it', () => got.length === 49)
    expect(got).toEqual([...Array(49).keys()].map((n) => n + 1))
    // It waits for a database that is away, and goes down with none of the others.
    expect(pidOf('realtime.ts') === realtime).toBe(word !== 'realtime.ts')
    await client.realtime.disconnect()
  })
})
