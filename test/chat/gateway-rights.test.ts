// The loss of rights while a socket is open; test/chat/rights.timing.test.ts measures
// how quickly it takes effect.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ChatSocket, toldAll } from '../support/chat-socket.ts'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { waitedFor } from '../support/races.ts'
import { hasStack } from '../support/facade.ts'
import { startGateway } from '../support/own-gateway.ts'
import { expectWithin } from '../support/promised-times.ts'
import { mintToken, testWithKey } from '../support/tokens.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { conversationBetween, startConversation, wholeHistory } from '../support/conversations.ts'
import { shortSocketOf, socketOf } from './sockets.ts'

const suspend = (person: Person) =>
  database().query(
    `update public.accounts set status = 'suspended', status_reason = 'تجربة' where id = $1`,
    [person.id],
  )

async function talking() {
  const people = await startConversation()
  const left = await socketOf(people.a)
  const right = await socketOf(people.b)
  await right.join(people.conversationId)
  await left.sendMessage(people.conversationId, 'قبل')
  await waitUntil('it comes', () => right.messages().length === 1)
  return { ...people, left, right }
}

test("AUTH-13 a suspended account's socket closes with 4403 and receives nothing more", async () => {
  const { a, b, conversationId, left, right } = await talking()
  await suspend(b)
  const before = right.messages().length
  // The message is refused, because the other side can no longer read it.
  expect((await left.sendMessage(conversationId, 'بعد')).data.code).toBe('blocked')
  expect((await right.waitForClose()).code).toBe(4403)
  expect(right.events('error').at(-1)).toMatchObject({ code: 'account_suspended' })
  expect(right.messages().length).toBe(before)
  const again = new ChatSocket()
  await again.opened()
  expect((await again.ask('auth', { accessToken: b.accessToken })).event).toBe('error')
  expect((await again.waitForClose()).code).toBe(4403)
  await database().query(`update public.accounts set status = 'active' where id = $1`, [b.id])
  const back = await socketOf(await signIn(b.identifier, b.password))
  await back.join(conversationId, { afterSeq: 0 })
  await waitUntil('all is there', () => back.messages().length === 1)
  expect((await wholeHistory(a, conversationId)).length).toBe(1)
})

test.each([
  ['account_suspended', { reason: 'تجربة' }, 4403, suspend],
  [
    'account_banned',
    {},
    4403,
    (person: Person) =>
      database().query(`update public.accounts set status = 'banned' where id = $1`, [person.id]),
  ],
  ['token_invalid', {}, 4401, (person: Person) => person.post('/auth/logout', {})],
])(
  'a socket in several conversations gets the reason of its end once: %s',
  async (code, details, as, end) => {
    const { b, right } = await talking()
    const rooms = await Promise.all(
      (await Promise.all([signUp(), signUp(), signUp()])).map((other) =>
        conversationBetween(other, b)
      ),
    )
    // The gateway notices the loss of rights separately for the account and each conversation, in any order.
    const sockets = [right, ...await Promise.all(Array.from({ length: 7 }, () => socketOf(b)))]
    await Promise.all(sockets.flatMap((socket) => rooms.map((room) => socket.join(room))))
    await end(b)
    for (const socket of sockets) {
      expect((await socket.waitForClose()).code).toBe(as)
      const errors = socket.events('error')
      expect(errors.map((error) => error.code)).toEqual([code])
      expect(errors[0]).toMatchObject(details)
      if ('reason' in details) expect(errors[0].message).toContain(details.reason)
    }
  },
)

test('AUTH-17 a session that ends closes its sockets, and no others', async () => {
  const { a, b, conversationId, left, right } = await talking()
  const other = await signIn(b.identifier, b.password)
  const stays = await socketOf(other)
  await stays.join(conversationId)
  expect((await b.post('/auth/logout', {})).status).toBe(204)
  await left.sendMessage(conversationId, 'بعد')
  expect((await right.waitForClose()).code).toBe(4401)
  await waitUntil('the other phone receives it', () => stays.messages().length === 1)
  expect(right.messages().length).toBe(1)
  expect(stays.closed).toBeUndefined()
  const third = await socketOf(await signIn(b.identifier, b.password))
  const newPassword = randomUUID()
  await other.post('/auth/password/change', { currentPassword: b.password, newPassword })
  expect((await third.waitForClose()).code).toBe(4401)
  expect((await stays.ask('heartbeat', {})).event).toBe('ack')
  await a.post('/auth/logout', { scope: 'global' })
  expect((await left.waitForClose()).code).toBe(4401)
})

test('AUTH-12 a deleted account closes its sockets', async () => {
  const { b, right } = await talking()
  await database().query('delete from auth.users where id = $1', [b.id])
  expect((await right.waitForClose()).code).toBe(4401)
})

test('IDN-06 a removed identity no longer receives its conversations', async () => {
  const [a, b] = await Promise.all([signUp(), signUp()])
  const company = await insertOrganisation(b.id, 'company')
  await b.post('/auth/identity/switch', { identityId: company })
  const { body } = await a.post('/conversations', { identityId: company })
  const [left, right] = [await socketOf(a), await socketOf(b)]
  expect((await right.join(body.id)).event).toBe('ack')
  await left.sendMessage(body.id, 'قبل')
  await waitUntil('it comes', () => right.messages().length === 1)

  await database().query(`update public.identities set status = 'suspended' where id = $1`, [
    company,
  ])
  const took = await waitUntil(
    'it gets the error',
    () => right.events('error').some(({ conversationId }) => conversationId === body.id),
  )
  expectWithin('a lost right closes what is open', took)
  await left.sendMessage(body.id, 'بعد')
  await toldAll(b, right)
  expect(right.messages().length).toBe(1)
  // The account is unchanged, so the socket stays open. It has no acting identity
  // until the client chooses one.
  expect(right.closed).toBeUndefined()
  expect(await right.sendMessage(body.id, 'x'))
    .toMatchObject({ event: 'error', data: { code: 'identity_not_usable' } })
})

test('switching identity leaves the conversations of the first', async () => {
  const { a, b, left, right, conversationId } = await talking()
  const company = await insertOrganisation(b.id, 'company')
  await b.post('/auth/identity/switch', { identityId: company })
  await waitUntil('it gets the error', () => right.events('error').length > 0)
  expect(right.events('error')).toMatchObject([{ code: 'not_participant', conversationId }])
  await left.sendMessage(conversationId, 'بعد')
  await toldAll(b, right)
  expect(right.messages().length).toBe(1)
  expect((await right.join(conversationId)).data.code).toBe('not_participant')
  await b.post('/auth/identity/switch', { identityId: b.identityId })
  expect((await right.join(conversationId, { afterSeq: 1 })).event).toBe('ack')
  await waitUntil('what was missed is there', () => right.messages().length === 2)
  expect(await conversationBetween(a, b)).toBe(conversationId)
})

test('a blocked person receives nothing more and cannot write', async () => {
  const { a, b, conversationId, left, right } = await talking()
  expect((await a.post(`/blocks/${b.identityId}`)).status).toBe(204)
  await waitUntil('it gets the error', () => right.events('error').length > 0)
  expect(right.events('error')).toMatchObject([{ code: 'blocked', conversationId }])
  expect((await right.sendMessage(conversationId, 'x')).data.code).toBe('blocked')
  expect((await right.join(conversationId)).data.code).toBe('blocked')
  expect((await left.sendMessage(conversationId, 'x')).data.code).toBe('blocked')
  await a.delete(`/blocks/${b.identityId}`)
  expect((await right.join(conversationId)).event).toBe('ack')
  await left.sendMessage(conversationId, 'عدنا')
  await waitUntil('it comes', () => right.messages().length === 2)
})

describe.runIf(hasStack)('CHAT-07 the token ends while the socket is open', () => {
  testWithKey(
    'without a new one it is closed with 4401, and nothing is accepted afterwards',
    async () => {
      const { a, conversationId } = await startConversation()
      const { socket } = await shortSocketOf(a)
      let said = 0
      while (!socket.closed) {
        if ((await socket.sendMessage(conversationId, String(said))).event === 'ack') said++
        await pause(100, 'any moment is right')
      }
      expect(socket.closed).toMatchObject({ code: 4401, reason: 'token_expired' })
      const messages = await wholeHistory(a, conversationId)
      expect(messages.length).toBe(said)
      const { rows } = await database().query(
        `select count(*)::int from public.messages
       where conversation_id = $1 and created_at > $2::timestamptz`,
        [conversationId, new Date().toISOString()],
      )
      expect(rows[0].count).toBe(0)
    },
  )

  testWithKey(
    'what was accepted before is stored and acknowledged before the socket closes',
    async () => {
      const { a, conversationId } = await startConversation()
      const gateway = await startGateway({}, { times: { answerTime: 240_000 } })
      const holder = await database().connect()
      /** Returns false if the token expired before the gateway began to store the message. */
      async function inTime(seconds: number): Promise<boolean> {
        const { socket, exp } = await shortSocketOf(a, { url: gateway.url, seconds })
        await holder.query('begin')
        await holder.query('select from public.conversations where id = $1 for update', [
          conversationId,
        ])
        const said = socket.sendMessage(conversationId, 'في اللحظة الأخيرة')
        await Promise.race([waitedFor(holder), socket.waitForClose()])
        if (Date.now() >= exp) {
          await holder.query('rollback')
          return false
        }
        await waitUntil('the token has ended', () => Date.now() > exp)
        const late = socket.sendMessage(conversationId, 'بعدها')
        expect(socket.closed).toBeUndefined()
        await holder.query('commit')
        expect((await said).event).toBe('ack')
        // The late message is refused or gets no response, depending on what the gateway notices first.
        expect((await late).event).toBeOneOf(['error', 'closed'])
        expect((await socket.waitForClose()).code).toBe(4401)
        return true
      }
      try {
        let seconds = 2
        while (!await inTime(seconds)) seconds *= 2
      } finally {
        holder.release()
        await gateway.kill()
      }
      const bodies = (await wholeHistory(a, conversationId)).map(({ body }) => body)
      expect(bodies).not.toContain('بعدها')
      expect(bodies).toContain('في اللحظة الأخيرة')
    },
  )

  testWithKey('with a new token of the same session it goes on', async () => {
    const { a, b, conversationId } = await startConversation()
    let short = await shortSocketOf(a)
    const renew = () => short.socket.ask('auth', { accessToken: a.accessToken })
    for (let seconds = 4; (await renew()).event !== 'ack'; seconds *= 2) {
      expect(Date.now()).toBeGreaterThanOrEqual(short.exp)
      short = await shortSocketOf(a, { seconds })
    }
    const { socket, accessToken } = short
    await socket.join(conversationId)
    const ends = await socketOf({ accessToken }).catch(() => undefined)
    await ends?.waitForClose()
    expect(Date.now()).toBeGreaterThanOrEqual(short.exp)
    const other = await socketOf(b)
    await other.sendMessage(conversationId, 'بعد')
    await waitUntil('it still receives', () => socket.messages().length === 1)
    expect((await socket.sendMessage(conversationId, 'وأنا هنا')).event).toBe('ack')
  })

  testWithKey(
    "somebody else's, an expired or an invalid token is refused; the socket stays as it was",
    async () => {
      const { a, b, conversationId } = await startConversation()
      const socket = await socketOf(a)
      const second = await signIn(a.identifier, a.password)
      for (
        const [accessToken, code] of [
          [b.accessToken, 'token_invalid'],
          [second.accessToken, 'token_invalid'],
          [mintToken(a.accessToken, { exp: Math.floor(Date.now() / 1000) - 10 }), 'token_expired'],
          ['rubbish', 'token_invalid'],
          [`${a.accessToken.slice(0, -5)}AAAAA`, 'token_invalid'],
        ] as const
      ) {
        expect(await socket.ask('auth', { accessToken }))
          .toMatchObject({ event: 'error', data: { code } })
      }
      const { data } = await socket.sendMessage(conversationId, 'ما زلت أنا')
      expect(data.message.senderIdentityId).toBe(a.identityId)
    },
  )
})
