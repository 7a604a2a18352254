// The last admin cannot be locked out, and acts need not name the admin if there is only one. The tests take
// the role from all other admins, so they run alone.
import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { auditOf, makeAdmin } from '../support/admins.ts'
import { act, edit } from './studio.ts'
import { database, guest, type Person, projectUrl, secretKey, signUp } from '../support/client.ts'

let first: Person
let second: Person
let others: string[]
const made: string[] = []

beforeEach(async () => {
  ;[first, second] = [await makeAdmin(await signUp()), await makeAdmin(await signUp())]
  made.push(first.id, second.id)
  const { rows } = await database().query(
    'delete from public.admins where not account_id = any ($1) returning account_id',
    [[first.id, second.id]],
  )
  others = rows.map(({ account_id }) => account_id)
})

afterEach(async () => {
  await database().query(
    `insert into public.admins (account_id)
     select id from public.accounts where id = any ($1) and status = 'active'
     on conflict do nothing`,
    [others],
  )
})

const lastAdmin = { status: 409, body: { error: { code: 'last_admin' } } }
const refused = {
  message: 'Nobody else is an admin: add a row to admins for another account first.',
  hint: 'last_admin',
}
/**
 * Lets both admins act on their own accounts at once. The routes refuse this (admin_target),
 * but rows of admin_acts do not.
 */
const both = (name: string) =>
  Promise.allSettled(
    [first, second].map(({ id }) => act({ act: name, by: id, target: id, reason: 'سبب' })),
  )
const present = async () => {
  const { rows } = await database().query(
    `select account_id from public.admins join public.accounts on id = account_id
     where status = 'active'`,
  )
  return rows.length
}

test('two who are locked at once: one of them stays, in every round', async () => {
  for (let round = 0; round < 5; round++) {
    const [one, other] = await both('suspend_account')
    const lost = [one, other].filter(({ status }) => status === 'rejected')
    expect(lost).toMatchObject([{ reason: { message: refused.message } }])
    expect(await present()).toBe(1)
    ;[first, second] = [await makeAdmin(await signUp()), await makeAdmin(await signUp())]
    made.push(first.id, second.id)
    await database().query('delete from public.admins where not account_id = any ($1)', [
      [first.id, second.id],
    ])
  }
})

test('two who are deleted at once: one of them stays', async () => {
  const outcomes = await both('delete_account')
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await present()).toBe(1)
})

test('ADM-03 the only admin cannot be removed by the API, by SQL, in Studio or at Auth', async () => {
  await database().query('delete from public.admins where account_id = $1', [second.id])
  const { id, password } = first
  const query = (sql: string) => database().query(sql, sql.includes('$1') ? [id] : [])
  for (
    const sql of [
      'delete from public.admins',
      'delete from public.admins where account_id = $1',
      'truncate public.admins, private.passkeys',
      'truncate public.admins cascade',
      ...["status = 'suspended'", "status = 'banned'", 'delete_at = now()'].map((change) =>
        `update public.accounts set ${change} where id = $1`
      ),
      `update public.accounts set status = 'suspended', suspended_until = now() + interval '1 hour'
     where id = $1`,
      'select private.anonymise_account($1)',
      'delete from auth.users where id = $1',
      'delete from public.accounts where id = $1',
    ]
  ) {
    await expect(query(sql), sql).rejects.toMatchObject(refused)
  }
  await expect(
    database().query(
      'update public.admins set account_id = $1 where account_id = $2',
      [second.id, id],
    ),
  ).resolves.toBeTruthy() // hands the role over to another account
  await database().query('update public.admins set account_id = $1', [id])
  const { rows: [{ id: locked }] } = await database().query(
    `insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id`,
    [`${randomUUID()}@example.com`],
  )
  await database().query(`update public.accounts set status = 'banned' where id = $1`, [locked])
  await expect(database().query('update public.admins set account_id = $1', [locked])).rejects
    .toMatchObject(refused)
  expect(await first.post('/auth/me/delete', { password })).toMatchObject(lastAdmin)
  const auth = createClient(projectUrl, secretKey, { auth: { persistSession: false } }).auth.admin
  expect((await auth.deleteUser(id)).error).not.toBeNull()
  expect((await auth.deleteUser(id, true)).error).not.toBeNull()
  expect((await first.get('/admin/stats')).status).toBe(200)
  expect((await guest.post('/auth/login', { identifier: first.identifier, password })).status)
    .toBe(200)
})

describe('ADM-18 by', () => {
  const suspend = async (by: string | null) => {
    const { id } = await signUp()
    const row = await act({ act: 'suspend_account', by, target: id, reason: 'سبب' })
    const [entry] = await auditOf(first, id)
    return { by: row.by, said: entry.said }
  }
  const missing = /^by is missing: type your phone, email or id,/

  test('is needed of two whose accounts are in order, and then it is one of them', async () => {
    await expect(suspend(null)).rejects.toThrow(missing)
    await expect(suspend('  ')).rejects.toThrow(missing)
    const saidSecond = {
      by: second.id,
      said: { id: second.id, fullName: (await second.get('/auth/me')).body.user.fullName },
    }
    expect(await suspend(second.id)).toEqual(saidSecond)
    expect(await suspend(` ${second.identifier.toUpperCase()}\u200f`)).toEqual(saidSecond)
  })

  test.each([
    ['suspended', { status: 'suspended' }],
    ['banned', { status: 'banned' }],
    ['to be deleted', { delete_at: new Date(Date.now() + 86_400_000) }],
  ])('is not needed where the other is %s, who may be named all the same', async (_how, locked) => {
    await edit('accounts', second.id, locked)
    expect(await suspend(null)).toEqual({ by: null, said: null })
    expect(await suspend('')).toEqual({ by: null, said: null })
    expect(await suspend(first.id)).toMatchObject({ said: { id: first.id } })
    expect(await suspend(second.id)).toMatchObject({ said: { id: second.id } })
  })

  test('is not needed of the only one, and of two again', async () => {
    await database().query('delete from public.admins where account_id = $1', [second.id])
    expect(await suspend(null)).toEqual({ by: null, said: null })
    await expect(suspend(second.id)).rejects.toThrow('is none')
    await makeAdmin(second)
    await expect(suspend(null)).rejects.toThrow(missing)
  })
})
