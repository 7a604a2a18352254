// INP-23: the length of a text is checked before the text is processed. Alternating marks of two combining
// classes are the most expensive to normalize; 16 KB of them take a second or more.
import { beforeAll, describe, expect, test } from 'vitest'
import { asCaller, database, guest, type Reply, signUp } from '../support/client.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { bodyLimit, type Input, inputsOf, type Operation, typeOf } from '../support/openapi.ts'
import { expectWithin } from '../support/promised-times.ts'
import { waitUntil } from '../support/wait.ts'
import { cheaply, isLeftOut, routes, type Senders, signUpSenders } from './input-requests.ts'

const marks = (count: number) => '\u0651\u064e'.repeat(count / 2)

let senders: Senders

beforeAll(async () => {
  senders = await signUpSenders()
})

describe('INP-23 every string of the description', () => {
  const isText = ({ schema }: Input) => typeOf(schema) === 'string'
  // In a URL each mark takes six bytes, and servers accept only 16 KB.
  const lengthFor = (operation: Operation, { in: where }: Input) =>
    where !== 'body' ? 1000 : bodyLimit(operation) > 8192 ? 8000 : 3000

  test.each(routes.filter(({ operation }) => inputsOf(operation).some(isText)))(
    '$method $path',
    async ({ operation }) => {
      for (const input of inputsOf(operation).filter(isText)) {
        const { path, body } = senders.built(operation, input, marks(lengthFor(operation, input)))
        await cheaply(async () => {
          const reply: Reply = await senders.call(operation, { path, body })
          if (isLeftOut(operation, input)) return
          // A missing owner of the listings (404) is found before the cursor is checked.
          const refusals = operation.id === 'login'
            ? [401]
            : input.name === 'cursor'
            ? [404, 422]
            : [422]
          expect(refusals, `${input.name} ${reply.status}`).toContain(reply.status)
        })
      }
    },
  )

  test.each(routes.filter(({ body }) => body))(
    '$method $path with one that is longer than its body may be',
    async ({ operation }) => {
      const input = inputsOf(operation).find((one) => one.in === 'body' && isText(one))
      if (!input) return
      const { path, body } = senders.built(operation, input, marks(bodyLimit(operation)))
      await cheaply(async () => {
        expect((await senders.call(operation, { path, body })).status).toBe(413)
      })
    },
  )

  test('says by how much a text is too long', async () => {
    const fullName = 'س'.repeat(481)
    expect((await senders.owner.patch('/auth/me', { fullName })).body.error).toMatchObject({
      code: 'validation_failed',
      fields: [{
        path: 'fullName',
        code: 'too_long',
        max: 120,
        message: expect.stringContaining('120'),
      }],
    })
    const run = `سالم${'\u064b'.repeat(31)}`
    expect((await senders.owner.patch('/auth/me', { fullName: run })).body.error.fields)
      .toMatchObject([{ path: 'fullName', code: 'invalid' }])
    // NFKC turns one character into several marks.
    const grown = `سالم${'\u0344'.repeat(16)}`
    expect((await senders.owner.patch('/auth/me', { fullName: grown })).status).toBe(422)
    const full = `سالم${'\u064b'.repeat(30)}`
    const draft = { type: 'SALE', descriptionAr: full }
    expect((await senders.owner.post('/properties', draft)).status).toBe(201)
  })
})

describe('INP-23 past the facade', () => {
  test('a function of the Data API says what is wrong', async () => {
    const refusal = async (q: string) =>
      await asCaller(
        await signUp(),
        (client) =>
          client.query(`select api.list_organisations('company', $1)`, [q])
            .then(() => undefined, ({ code, detail }) => [code, JSON.parse(detail).fields]),
      )
    const of = (code: string, bound = {}) => ['PT422', [{ path: 'q', code, ...bound }]]
    expect(await refusal('س'.repeat(401))).toEqual(of('too_long', { max: 200 }))
    expect(await refusal('س'.repeat(201))).toEqual(of('too_long', { max: 200 }))
    expect(await refusal('ﷺ'.repeat(200))).toEqual(of('too_long', { max: 200 }))
    expect(await refusal(`س${'\u064b'.repeat(31)}`)).toEqual(of('invalid'))
    expect(await refusal('س'.repeat(200))).toBeUndefined()
  })

  test('SQL and TypeScript know the same marks', async () => {
    const [known, others]: [number[], number[]] = [[], []]
    for (let code = 1; code < 0x11_0000; code++) {
      const char = String.fromCodePoint(code)
      if (/^[\p{M}\uFF9E\uFF9F]$/u.test(char)) known.push(code)
      else if (/^[\p{L}\p{N}\p{P}\p{S}\p{Z}]$/u.test(char) && code % 11 === 0) others.push(code)
    }
    const { rows: [found] } = await database().query(
      `with run (code, problem) as materialized (
         select code, private.text_problem(repeat(chr(code), 31), 1000) from unnest($1::int[]) as code
       ), other (code, problem) as materialized (
         select code, private.text_problem(repeat(chr(code), 31), 1000) from unnest($2::int[]) as code
       )
       select array(select code from run where problem is distinct from 'invalid') as missed,
         array(select code from other where problem is not null) as mistaken`,
      [known, others],
    )
    expect(found).toEqual({ missed: [], mistaken: [] })
  })
})

test('INP-23 a frame of the gateway is answered by an error', async () => {
  const socket = await ChatSocket.connect(await signUp())
  for (const data of [{ body: marks(8000) }, { body: 'س'.repeat(16_001) }, { type: marks(8000) }]) {
    await cheaply(async () => {
      const before = socket.frames.length
      const ids = { conversationId: crypto.randomUUID(), clientMessageId: crypto.randomUUID() }
      socket.socket.send(JSON.stringify({ event: 'send_message', data: { ...ids, ...data } }))
      await waitUntil('an answer', () => socket.frames.length > before)
      expect(socket.frames[before]!.event).toBe('error')
    })
  }
})

test('INP-23 a body with a number of many digits is refused at once', async () => {
  for (const number of [`1${'0'.repeat(100_000)}1`, `0.${'0'.repeat(100_000)}1`]) {
    await cheaply(async () => {
      const body = `{"strategy":"standard","priceMin":${number}}`
      expect((await guest.post('/search/advanced', body)).status).toBe(422)
    })
  }
})

test('LOAD-07 a statement for whose answer nobody waits any more ends by itself', async () => {
  const owner = await signUp()
  const holder = await database().connect()
  try {
    await holder.query('begin')
    await holder.query('select from public.accounts where id = $1 for update', [owner.id])
    const { rows: [{ pid }] } = await holder.query('select pg_backend_pid() as pid')
    // Counts only update_me, because a job may also wait for the row.
    const waiting = async () =>
      (await database().query(
        `select from pg_stat_activity where $1 = any (pg_blocking_pids(pid)) and usename = 'facade'
           and query like '%update_me%'`,
        [pid],
      )).rows.length
    const gaveUp = expect(
      owner.patch('/auth/me', { fullName: 'سالم' }, { signal: AbortSignal.timeout(2000) }),
    ).rejects.toThrow()
    await waitUntil('the statement waits for the row', async () => await waiting() === 1)
    await gaveUp
    const took = await waitUntil('it has ended', async () => await waiting() === 0)
    expectWithin('a statement that nobody waits for ends', took)
  } finally {
    await holder.query('rollback')
    holder.release()
  }
})
