import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { hasStack } from '../../test/support/facade.ts'
import {
  joined,
  type Json,
  payloads,
  startRealtime,
  subscribed,
  type TestRealtime,
} from './support/client.ts'
import { waitUntil } from '../../test/support/wait.ts'

let realtime: TestRealtime
beforeAll(async () => {
  if (hasStack) realtime = await startRealtime()
})
afterAll(() => realtime?.stop())
afterEach(() => void vi.useRealTimers())

const newTopic = () => `room:${randomUUID()}`

describe.runIf(hasStack)('messages from the database', () => {
  test.for(['2.0.0', '1.0.0'])('reach unchanged supabase-js, protocol %s', async (vsn) => {
    const topic = newTopic()
    const { received } = await joined(realtime, topic, { vsn })
    await realtime.send(topic, 'new_message', { text: 'السلام عليكم 🏠', n: 1 })
    await waitUntil('the message arrives', () => received.length === 1)
    expect(received[0]).toEqual({
      type: 'broadcast',
      event: 'new_message',
      payload: { text: 'السلام عليكم 🏠', n: 1, id: expect.any(String) },
      meta: { id: received[0].payload.id },
    })
  })

  test('come only after the commit, in the order of the commits', async () => {
    const topic = newTopic()
    const { received } = await joined(realtime, topic)
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => realtime.database.connect()),
    )
    const say = (client: Json, n: number) =>
      client.query(`begin; select realtime.send('{"n":${n}}', 'm', '${topic}')`)
    await say(first, 1)
    await say(second, 2)
    await say(third, 3)
    await realtime.send(topic, 'm', { n: 0 })
    await waitUntil('what is committed comes', () => received.length === 1)
    await second!.query('commit')
    await third!.query('rollback')
    await first!.query('commit')
    for (const client of [first, second, third]) client!.release()
    await realtime.send(topic, 'm', { n: 4 })
    await waitUntil('the last comes', () => payloads(received).some(({ n }) => n === 4))
    expect(payloads(received).map(({ n }) => n)).toEqual([0, 2, 1, 4])
  })

  test('are complete while a client is joined, with any number of concurrent senders', async () => {
    const topic = newTopic()
    const members = await Promise.all([
      joined(realtime, topic),
      joined(realtime, topic, { vsn: '1.0.0' }),
    ])
    const sender = async (who: number) => {
      for (let n = 0; n < 100; n++) await realtime.send(topic, 'm', { who, n })
    }
    await Promise.all([0, 1, 2, 3, 4].map(sender))
    for (const { received } of members) {
      await waitUntil('all are there', () => received.length === 500)
      for (let who = 0; who < 5; who++) {
        const own = payloads(received).filter((payload) => payload.who === who).map(({ n }) => n)
        expect(own).toEqual([...Array(100).keys()])
      }
    }
    expect(payloads(members[0]!.received)).toEqual(payloads(members[1]!.received))
  })

  test('are complete from the answer to a join on', async () => {
    const topic = newTopic()
    let sent = 0
    let sending = true
    const sender = (async () => {
      while (sending) await realtime.send(topic, 'm', { n: sent++ })
    })()
    for (let round = 0; round < 5; round++) {
      const raw = await realtime.raw()
      const sub = randomUUID()
      await realtime.member(topic, sub)
      await raw.join(topic, { private: true }, { access_token: await realtime.token(sub) })
      const from = sent
      await waitUntil('some come', () => raw.events(topic, 'broadcast').length > 20)
      raw.close()
      const numbers = raw.events(topic, 'broadcast').map(({ payload }: Json) => payload.n)
      expect(numbers[0]).toBeLessThanOrEqual(from)
      expect(numbers).toEqual(numbers.map((_: number, index: number) => numbers[0] + index))
    }
    sending = false
    await sender
  })

  test('reach public channels if public, private channels if private', async () => {
    const topic = newTopic()
    const { received } = await joined(realtime, topic)
    const open: Json[] = []
    const channel = realtime.client().channel(topic, { config: { broadcast: { ack: true } } })
    channel.on('broadcast', { event: '*' }, (message) => open.push(message))
    expect(await subscribed(channel)).toMatchObject({ status: 'SUBSCRIBED' })
    await realtime.send(topic, 'm', { n: 1 }, false)
    await realtime.send(topic, 'm', { n: 2 }, true)
    expect(await channel.send({ type: 'broadcast', event: 'm', payload: { n: 3 } })).toBe('ok')
    await realtime.send(topic, 'm', { n: 4 }, false)
    await realtime.send(topic, 'm', { n: 5 }, true)
    await waitUntil('each has its own', () => received.length > 1 && open.length > 1)
    expect(payloads(received)).toMatchObject([{ n: 2 }, { n: 5 }])
    expect(payloads(open)).toMatchObject([{ n: 1 }, { n: 4 }])
  })

  test('carry bytes to clients of protocol 2.0.0', async () => {
    const topic = newTopic()
    const [now, old] = await Promise.all([
      joined(realtime, topic),
      joined(realtime, topic, { vsn: '1.0.0' }),
    ])
    await realtime.query(`select realtime.send_binary('\\x00ff10', 'bytes', $1)`, [topic])
    await realtime.send(topic, 'm', { n: 1 })
    await waitUntil(
      'the messages arrive',
      () => now.received.length === 2 && old.received.length === 1,
    )
    expect(now.received[0]).toMatchObject({ event: 'bytes', meta: { id: expect.any(String) } })
    expect([...new Uint8Array(now.received[0].payload)]).toEqual([0, 255, 16])
  })
})

describe.runIf(hasStack)('the stream from the database', () => {
  test('can be lost unnoticed: clients stay joined, and receive messages again later', async () => {
    const own = await startRealtime()
    const topic = newTopic()
    const { received, states } = await joined(own, topic)
    const letGo = own.tenant.holdStream()
    await own.query(
      `select pg_terminate_backend(active_pid) from pg_replication_slots
       where database = current_database()`,
    )
    await waitUntil('the stream is lost', () => !own.tenant.streaming)
    await own.send(topic, 'm', { n: 1 })
    const { received: late, states: later } = await joined(own, topic)
    letGo()
    await waitUntil('there is a new stream', () => own.tenant.streaming)
    await own.send(topic, 'm', { n: 2 })
    await waitUntil('messages arrive again', () => received.length === 1 && late.length === 1)
    expect(payloads(received)).toMatchObject([{ n: 2 }])
    expect([states, later]).toEqual([['SUBSCRIBED'], ['SUBSCRIBED']])
    await own.stop()
  })

  test('is not waited for by a join; replication_ready reports it', async () => {
    const own = await startRealtime()
    const topic = newTopic()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const letGo = own.tenant.holdStream()
    own.tenant.breakStream()
    await waitUntil('the stream is lost', () => !own.tenant.streaming)
    const asking = { broadcast: { replication_ready: true } }
    const [patient, silent, tired] = await Promise.all([own.raw(), own.raw(), own.raw()])
    expect(await tired!.join(topic, asking)).toMatchObject({ status: 'ok' })
    vi.setSystemTime(Date.now() + 60_000)
    await tired!.find('the end', ([, , , event]) => event === 'phx_close')
    expect(tired!.events(topic, 'system')).toEqual([{
      extension: 'system',
      status: 'error',
      message: 'Replication connection was not established in time',
      channel: topic,
    }])
    expect(await patient!.join(topic, asking)).toMatchObject({ status: 'ok' })
    expect(await silent!.join(topic)).toMatchObject({ status: 'ok' })
    expect(patient!.events(topic, 'system')).toEqual([])
    letGo()
    await waitUntil('it is reported', () => patient!.events(topic, 'system').length === 1)
    expect(patient!.frames.at(-1)).toEqual(['1', null, `realtime:${topic}`, 'system', {
      extension: 'system',
      status: 'ok',
      message: 'Replication connection established',
      channel: topic,
    }])
    await own.send(topic, 'm', { n: 1 }, false)
    for (const raw of [patient!, silent!]) {
      await waitUntil('the message arrives', () => raw.events(topic, 'broadcast').length === 1)
    }
    expect(silent!.events(topic, 'system')).toEqual([])
    await own.stop()
  })

  test('is reported by supabase-js, over both protocols', async () => {
    for (const vsn of ['2.0.0', '1.0.0']) {
      const topic = newTopic()
      const { received } = await joined(realtime, topic, {
        vsn,
        config: { broadcast: { replication_ready: true } },
      })
      await waitUntil('it is reported', () => received.length === 1)
      expect(received[0].system).toMatchObject({ extension: 'system', status: 'ok' })
    }
  })
})

describe.runIf(hasStack)('the functions of the database', () => {
  test('turn a failure into a warning (realtime.send) or raise it (broadcast_changes)', async () => {
    const client = await realtime.database.connect()
    const notices: string[] = []
    client.on('notice', ({ message }) => notices.push(message!))
    // The topic is null, which the table does not allow, so no row is inserted.
    await client.query(`select realtime.send('{}', 'm', null)`)
    expect(notices).toEqual([expect.stringContaining('WarnSendingBroadcastMessage')])
    await expect(client.query(
      `select realtime.broadcast_changes('t', 'e', 'INSERT', 'x', 'public', row(1), row(2),
         'STATEMENT')`,
    )).rejects.toThrow('for each row')
    await client.query('begin; set local role authenticated')
    await client.query(`select realtime.send('{}', 'm', 'not mine')`)
    await client.query('rollback')
    client.release()
    expect(notices).toHaveLength(2)
  })

  test('send the old and the new record of a row (broadcast_changes)', async () => {
    const topic = newTopic()
    const { received } = await joined(realtime, topic)
    const table = `t_${randomUUID().replaceAll('-', '')}`
    await realtime.query(`
      create table public.${table} (id int, name text);
      create function public.${table}() returns trigger language plpgsql as $$
      begin
        perform realtime.broadcast_changes('${topic}', tg_op, tg_op, tg_table_name,
          tg_table_schema, new, old);
        return null;
      end $$;
      create trigger told after insert or update or delete on public.${table}
        for each row execute function public.${table}();
      insert into public.${table} values (1, 'a');
      update public.${table} set name = 'b';
      delete from public.${table};
    `)
    await waitUntil('all come', () => received.length === 3)
    const common = { schema: 'public', table }
    expect(payloads(received)).toMatchObject([
      { ...common, operation: 'INSERT', record: { id: 1, name: 'a' }, old_record: null },
      { ...common, operation: 'UPDATE', record: { name: 'b' }, old_record: { name: 'a' } },
      { ...common, operation: 'DELETE', record: null, old_record: { id: 1, name: 'b' } },
    ])
  })
})

describe.runIf(hasStack)('replay', () => {
  test('delivers what the database sent before, once', async () => {
    const topic = newTopic()
    const before = Date.now() - 1000
    for (let n = 0; n < 30; n++) await realtime.send(topic, 'm', { n })
    const all = await joined(realtime, topic, {
      config: { broadcast: { replay: { since: before, limit: 25 } } },
    })
    await waitUntil('the messages arrive', () => all.received.length === 25)
    expect(payloads(all.received).map(({ n }) => n)).toEqual(
      [...Array(25).keys()].map((n) => n + 5),
    )
    expect(all.received[0].meta).toEqual({ replayed: true, id: all.received[0].payload.id })
    const defaults = await joined(realtime, topic, {
      config: { broadcast: { replay: { since: before } } },
    })
    await waitUntil('25 arrive by default', () => defaults.received.length === 25)
    for (const [limit, count] of [[26, 25], [0, 1]] as const) {
      const { received } = await joined(realtime, topic, {
        config: { broadcast: { replay: { since: before, limit } } },
      })
      await waitUntil('as many come as may', () => received.length === count)
    }
    const none = { since: Date.now() + 60_000 }
    const late = await joined(realtime, topic, { config: { broadcast: { replay: none } } })
    await realtime.send(topic, 'm', { n: 30 })
    const { received } = await joined(realtime, topic, { config: { broadcast: { replay: true } } })
    await realtime.send(topic, 'm', { n: 31 })
    await waitUntil('live goes on', () => late.received.length === 2 && all.received.length === 27)
    await waitUntil('also where nothing is said of it', () => received.length === 1)
    expect(late.received[0].meta).toEqual({ id: late.received[0].payload.id })
  })

  test('needs a private topic, the right to hear it and valid parameters', async () => {
    const topic = newTopic()
    const [sub, watcher] = [randomUUID(), randomUUID()]
    await realtime.member(topic, sub)
    await realtime.member(topic, watcher, { reads: false })
    const since = Date.now()
    const seen = { presence: { enabled: true } }
    const attempts: [string, Json, RegExp][] = [
      [sub, { private: false, broadcast: { replay: { since } } }, /^UnableToReplayMessages: /],
      [
        sub,
        { private: true, broadcast: { replay: { since: 'now' } } },
        /^UnableToReplayMessages: /,
      ],
      [sub, { private: true, broadcast: { replay: { limit: 1 } } }, /^UnableToReplayMessages: /],
      [watcher, { private: true, ...seen, broadcast: { replay: { since } } }, /^Unauthorized: /],
    ]
    await Promise.all(attempts.map(async ([sub, config, reason]) => {
      const raw = await realtime.raw()
      const access_token = await realtime.token(sub)
      const { response } = await raw.join(topic, config, { access_token })
      expect(response.reason).toMatch(reason)
      raw.close()
    }))
  })
})
