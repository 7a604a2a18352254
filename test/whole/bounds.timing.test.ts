// INP-23: each entry point refuses a long run of combining marks about as fast as a run of letters, although
// combining marks can take quadratic time to process.
import { once } from 'node:events'
import { beforeAll, expect, test } from 'vitest'
import { ChatSocket } from '../support/chat-socket.ts'
import { asCaller, guest, newEmail, type Person, signUp } from '../support/client.ts'
import { fieldRefusal } from '../support/problems.ts'
import { expectWithin } from '../support/promised-times.ts'

const marks = (bytes: number) => '\u0651\u064e'.repeat(bytes / 4)
const letters = (bytes: number) => 'س'.repeat(bytes / 2)

let person: Person
let socket: ChatSocket
beforeAll(async () => {
  person = await signUp()
  socket = await ChatSocket.connect(person)
})

const login = async (password: string, status: number) =>
  expect((await guest.post('/auth/login', { identifier: newEmail(), password })).status)
    .toBe(status)

const doors: [door: string, bytes: number, refused: (text: string) => Promise<unknown>][] = [
  [
    'api.list_organisations',
    16_384,
    (text) =>
      asCaller(
        person,
        (client) =>
          expect(client.query(`select api.list_organisations('company', $1)`, [text]))
            .rejects.toMatchObject({ code: 'PT422' }),
      ),
  ],
  // The body of this route is limited to 8 KiB.
  ['fullName of POST /auth/register', 7168, async (fullName) => {
    const account = { identifier: newEmail(), password: 'Diwaniya-2026', fullName }
    expect(await guest.post('/auth/register', account))
      .toMatchObject(fieldRefusal(422, 'validation_failed', 'fullName'))
  }],
  ['POST /auth/login', 16_384, (password) => login(password, 413)],
  ['a frame of the gateway', 16_000, async (body) => {
    const ids = { conversationId: crypto.randomUUID(), clientMessageId: crypto.randomUUID() }
    const answer = once(socket.socket, 'message')
    socket.socket.send(
      JSON.stringify({ event: 'send_message', data: { ...ids, type: 'text', body } }),
    )
    expect(JSON.parse(String((await answer)[0]))).toMatchObject({ event: 'error' })
  }],
  ['q of GET /search', 1024, async (q) => {
    expect((await guest.get(`/search?q=${encodeURIComponent(q)}`)).status).toBe(422)
  }],
]

const median = (times: number[]) => times.toSorted((a, b) => a - b)[times.length >> 1]!

async function compared(bytes: number, refused: (text: string) => Promise<unknown>) {
  const times: [number[], number[]] = [[], []]
  for (let round = -1; round < 9; round++) {
    for (const [which, text] of [marks(bytes), letters(bytes)].entries()) {
      const began = performance.now()
      await refused(text)
      // Round -1 only warms up.
      if (round >= 0) times[which]!.push(performance.now() - began)
    }
  }
  return times.map(median) as [number, number]
}

test.each(doors)('INP-23 %s refuses marks as soon as letters', async (door, bytes, refused) => {
  const [ofMarks, plain] = await compared(bytes, refused)
  console.log(`${door}: ${ofMarks.toFixed(1)} ms, letters ${plain.toFixed(1)} ms`)
  expectWithin('a text over its bound is refused', ofMarks)
  expect(ofMarks).toBeLessThanOrEqual(3 * plain)
})

test('INP-23 a login that fits its body costs as much as a wrong password', async () => {
  const [ofMarks, plain] = await compared(4096, (password) => login(password, 401))
  expect(ofMarks).toBeLessThanOrEqual(3 * plain)
})
