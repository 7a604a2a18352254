// Failures that must not stop an action are caught and raise an alarm. Each test breaks a function in a
// transaction that is rolled back.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { callFailed, keepAlarmsWith } from '../../functions/_shared/errors/alarms.ts'
import { Refusal } from '../../functions/_shared/errors/refusal.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { conversationBetween } from '../support/conversations.ts'
import { partsOf } from '../support/tokens.ts'

async function alarmsOf(broken: string, statement: string, values: unknown[]) {
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query(broken)
    await client.query(statement, values)
    const { rows } = await client.query(
      'select kind, subject_id, details from private.alarms where raised_at = now()',
    )
    return rows
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const fails = "language plpgsql as $$ begin raise exception 'broken'; end $$"

async function textOf(person: Person, other: Person) {
  const { session_id: sessionId } = partsOf(person.accessToken).claims
  const conversationId = await conversationBetween(person, other)
  return {
    accountId: person.id,
    sessionId,
    conversationId,
    clientMessageId: randomUUID(),
    body: '!',
  }
}

test('messages that cannot be counted together are notified of one by one, and that is an alarm', async () => {
  const people = await Promise.all([signUp(), signUp(), signUp(), signUp()])
  const [a, b, c, d] = people as [Person, Person, Person, Person]
  const messages = [await textOf(a, b), await textOf(c, d)]
  const alarms = await alarmsOf(
    `create or replace function private.count_up_messages(deliveries private.message_delivery[])
       returns uuid[] ${fails}`,
    'select private.send_messages($1)',
    [JSON.stringify(messages)],
  )
  expect(alarms).toEqual([{
    kind: 'notification_failed',
    subject_id: 'messages P0001',
    details: { messages: 2, message: 'broken' },
  }])
})

test('a rate that cannot be counted is 503 for the caller, and an alarm', async () => {
  const alarms = await alarmsOf(
    `create or replace function private.caller_refusal() returns jsonb ${fails}`,
    `select private.count_rate('views', '127.0.0.1'), current_setting('facade.verdict')`,
    [],
  )
  expect(alarms).toEqual([{
    kind: 'rate_uncounted',
    subject_id: 'P0001',
    details: { rule: 'views', message: 'broken' },
  }])
})

test('an alarm says nothing of what was sent, which Postgres repeats in its messages', async () => {
  const sent = `language plpgsql as $$ begin perform 'ما كتبته'::uuid; end $$`
  const rate = await alarmsOf(
    `create or replace function private.caller_refusal() returns jsonb ${sent}`,
    `select private.count_rate('views', '127.0.0.1'), current_setting('facade.verdict')`,
    [],
  )
  const step = await alarmsOf(
    `create function private.planted_step(one text) returns boolean ${sent}`,
    `select private.for_each('planted_step', array['1'])`,
    [],
  )
  expect([...rate, ...step].map(({ details }) => details)).toEqual([
    { rule: 'views', message: '22P02' },
    { code: '22P02', why: '22P02' },
  ])
  const read = await alarmsOf(
    `create or replace function private.caller_refusal() returns jsonb language plpgsql as $$
     begin perform to_tsquery('simple', 'ما كتبته'); end $$`,
    `select private.count_rate('views', '127.0.0.1'), current_setting('facade.verdict')`,
    [],
  )
  expect(read.map(({ details }) => details)).toEqual([{ rule: 'views', message: '42601' }])
})

test('a call whose failure is told to nobody is an alarm, unless it may succeed in a moment', async () => {
  const saved: { kind: string; subjectId: string }[] = []
  keepAlarmsWith({
    save: (alarm) => Promise.resolve(saved.push(alarm)),
    settle: () => Promise.resolve(),
  })
  for (
    const [name, code] of [['late', '40P01'], ['cut off', 'POOL'], ['wrong', '42883']] as const
  ) {
    callFailed(name, Object.assign(new Error('no such function'), { code }))
  }
  callFailed('slow', new Refusal('timeout'))
  await expect.poll(() => saved).toMatchObject([{ kind: 'call_failed', subjectId: 'wrong' }])
})
