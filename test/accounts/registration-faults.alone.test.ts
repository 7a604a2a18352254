import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { database, guest, newEmail, newPhone, signIn } from '../support/client.ts'
import { codeSentBy, countAccounts, normalizedIdentifier, verifyCode } from '../support/codes.ts'

// The tests make the transaction that creates an account fail, but only for this name.
// afterEach removes the fault.
const name = `خلل ${randomUUID().slice(0, 8)}`

async function fault(table: string, column: string, what: string) {
  await database().query(
    `create or replace function private.fault() returns trigger language plpgsql as
     $$ begin ${what} return new; end $$`,
  )
  await database().query(
    `create trigger fault before insert on public.${table} for each row
     when (new.${column} = '${name}') execute function private.fault()`,
  )
}

afterEach(async () => {
  for (const table of ['individual_profiles', 'identities']) {
    await database().query(`drop trigger if exists fault on public.${table}`)
  }
  await database().query('drop function if exists private.fault()')
})

async function nothingLeft(identifier: string) {
  const { rows } = await database().query(
    `select 'user' as left from auth.users where email = $1 or '+' || phone = $1
     union all select 'account' from public.accounts where email = $1 or phone = $1
     union all select 'name' from public.individual_profiles where full_name = $2
     union all select 'identity' from public.identities where display_name = $2`,
    [identifier, name],
  )
  expect(rows).toEqual([])
}

const raise = `raise exception 'fault';`
const kill = 'perform pg_terminate_backend(pg_backend_pid());'

for (
  const [what, table, column, act] of [
    ['the profile fails', 'individual_profiles', 'full_name', raise],
    ['the identity fails', 'identities', 'display_name', raise],
    ['the connection dies before the identity', 'identities', 'display_name', kill],
  ] as const
) {
  test(`REG-05 when ${what}, nothing of an email registration is left`, async () => {
    const body = { identifier: newEmail(), password: randomUUID(), fullName: name }
    await fault(table, column, act)
    const failed = await guest.post('/auth/register', body)
    expect(failed).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    expect(failed.headers.get('retry-after')).toMatch(/^[0-9]+$/)
    await nothingLeft(body.identifier)

    await database().query(`drop trigger fault on public.${table}`)
    const { fullName: _bad, ...good } = body
    expect(await guest.post('/auth/register', good)).toMatchObject({ status: 201 })
    expect(await signIn(body.identifier, body.password)).toBeDefined()
  })

  test(`REG-05 when ${what}, a code is not lost`, async () => {
    const phone = newPhone()
    const body = { identifier: phone, password: randomUUID(), fullName: name }
    const [code, { body: { registrationId } }] = await codeSentBy(
      phone,
      () => guest.post('/auth/register', body),
    )
    await fault(table, column, act)
    expect(await verifyCode(phone, code, registrationId))
      .toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
    await nothingLeft(normalizedIdentifier(phone))

    await database().query(`drop trigger fault on public.${table}`)
    await database().query(`update private.registrations set full_name = null where id = $1`, [
      registrationId,
    ])
    expect(await verifyCode(phone, code, registrationId)).toMatchObject({ status: 200 })
    expect(await countAccounts(phone)).toBe(1)
    expect(await signIn(phone, body.password)).toBeDefined()
  })
}
