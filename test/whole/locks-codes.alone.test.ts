// Somebody uses a code for a change of email while an administrator acts on the account through a row of
// admin_acts. Both lock in the same order, and an act that was rolled back is retried.
import { beforeAll, expect, test } from 'vitest'
import { act, byHand } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, lastMessage, newEmail, type Person, signUp } from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { insertListing, insertWaitingCompany } from '../support/fixtures.ts'
import { drain } from '../support/jobs.ts'
import { bearer, deadlocks, race, untilLocked } from '../support/races.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { reason } from './racing-actions.ts'

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

async function begun(person: Person) {
  const email = newEmail()
  const { status, body } = await person.post('/auth/me/email', {
    email,
    currentPassword: person.password,
  })
  expect([status, body.changeId]).toEqual([202, expect.any(String)])
  const { code } = await lastMessage(email)
  return {
    path: '/auth/me/email/verify',
    body: { changeId: body.changeId, code },
    headers: [bearer(person)],
  }
}

test('ADM-11 a code of a change, and an act by a row on that account, never deadlock', async () => {
  const before = await deadlocks()
  const acts = [
    (target: string) => ({ act: 'suspend_account', target, reason }),
    (target: string) => ({ act: 'ban_account', target, reason }),
    (target: string) => ({ act: 'set_identifier', target, value: newEmail(), reason }),
  ]
  for (let round = 0; round < 30; round++) {
    const people = await Promise.all([signUp(), signUp(), signUp()])
    const shots = await Promise.all(people.map(begun))
    const [replies, ...rows] = await Promise.all([
      race([...shots, ...shots]),
      ...people.map(({ id }, i) => act(acts[i]!(id))),
    ])
    for (const row of rows) expect(row.state).toBe('done')
    for (const { status, body } of replies) {
      expect([200, 401, 403, 404, 409, 410, 422], JSON.stringify(body)).toContain(status)
    }
  }
  expect(await deadlocks()).toBe(before)
})

test('ADM-11 an act that Postgres undoes for another’s sake is done all the same', async () => {
  const { id } = await signUp()
  const client = await database().connect()
  try {
    await client.query('begin')
    await client.query('select from public.accounts where id = $1 for no key update', [id])
    const done = act({ act: 'suspend_account', target: id, reason })
    await untilLocked('insert into public.admin_acts')
    // Now the two transactions wait for each other. Postgres rolls back the one that checks for deadlocks
    // first, which is the one that began to wait first.
    await client.query('select from auth.sessions where user_id = $1 for update', [id])
      .then(() => client.query('commit'), () => client.query('rollback'))
    expect(await done).toMatchObject({ state: 'done', result: 'The account is suspended.' })
  } finally {
    client.release()
  }
  expect(await countSessions(id)).toBe(0)
})

test('AUTH-13 a session that is locked while its account is suspended is gone, and stays so', async () => {
  const person = await signUp()
  const client = await database().connect()
  try {
    await client.query('begin')
    // This is the lock that recording the origin of a new session takes.
    await client.query('select from auth.sessions where user_id = $1 for key share', [person.id])
    await byHand(`update public.accounts set status = 'suspended' where id = $1`, [person.id])
    await drain('end_sessions_left')
    expect(await countSessions(person.id)).toBe(1)
    await client.query('commit')
  } finally {
    client.release()
  }
  await waitUntil('its end', async () => {
    await drain('end_sessions_left')
    return await countSessions(person.id) === 0
  })
  await byHand(`update public.accounts set status = 'active' where id = $1`, [person.id])
  expect((await person.get('/auth/me')).status).toBe(401)
  expect((await guest.post('/auth/refresh', { refreshToken: person.refreshToken })).status).toBe(
    401,
  )
  const { rows } = await database().query(
    'select 1 from private.sessions_left where account_id = $1',
    [person.id],
  )
  expect(rows).toEqual([])
})

test('AUTH-13 a sign-in that races with a suspension leaves no session', async () => {
  for (let round = 0; round < 20; round++) {
    const { id, identifier, password } = await signUp()
    const login = { path: '/auth/login', body: { identifier, password } }
    await Promise.all([
      race([login, login, login, login]),
      act({ act: 'suspend_account', target: id, reason }),
    ])
    await drain('end_sessions_left')
    expect(await countSessions(id)).toBe(0)
  }
})

test('ADM-10 a deletion that is asked for beside a suspension: both hold, whichever is first', async () => {
  const ask = (person: Person) =>
    race([{
      path: '/auth/me/delete',
      body: { password: person.password },
      headers: [bearer(person)],
    }])
  const [alone, began] = [await signUp(), performance.now()]
  expect((await ask(alone))[0]!.status).toBe(202)
  const took = performance.now() - began
  let accepted = 0
  for (let round = 0; round < 20; round++) {
    const person = await signUp()
    // A deletion first checks the password, so a suspension that starts at the same moment would always win.
    const suspend = async () => {
      await pause(took * round / 12, 'time is the subject')
      return await act({ act: 'suspend_account', target: person.id, reason })
    }
    const [[reply], row] = await Promise.all([ask(person), suspend()])
    expect(row.state).toBe('done')
    expect([202, 401, 403], JSON.stringify(reply!.body)).toContain(reply!.status)
    const { rows } = await database().query(
      'select status, delete_at is not null as leaves from public.accounts where id = $1',
      [person.id],
    )
    expect(rows).toEqual([{ status: 'suspended', leaves: reply!.status === 202 }])
    if (reply!.status === 202) accepted++
  }
  expect(accepted).toBeGreaterThan(0)
})

/** Runs an administrator's statements in a transaction that stays open until the request waits for it. */
async function beside<Reply>(
  admins: [sql: string, values: unknown[]],
  waits: string,
  edit: () => Promise<Reply>,
) {
  const client = await database().connect()
  try {
    await client.query(`begin; set local edits.by = ''`)
    await client.query(...admins)
    const reply = edit()
    await untilLocked(waits)
    await client.query('commit')
    return await reply
  } finally {
    client.release()
  }
}

const row = (act: string, target: string, more: Record<string, unknown> = {}) => {
  const given = { act, by: admin.id, target, ...more }
  return [
    `insert into public.admin_acts (${Object.keys(given)}) values (${
      Object.keys(given).map((_, i) => `$${i + 1}`)
    })`,
    Object.values(given),
  ] as [string, unknown[]]
}

test.each(['by a row', 'by hand'])(
  'ADM-11 an edit beside an approval %s writes no older status back',
  async (how) => {
    const person = await signUp()
    const listing = await insertListing(person.identityId, { status: 'pending_review' })
    const { rows: [{ version }] } = await database().query(
      'select private.review_version(properties) as version from public.properties where id = $1',
      [listing],
    )
    const byRow = how === 'by a row'
    const saved = await beside(
      byRow
        ? row('approve', listing, { version })
        : [`update public.properties set status = 'active' where id = $1`, [listing]],
      'update_property',
      () => person.patch(`/properties/${listing}`, { price: 99000 }),
    )
    expect(saved).toMatchObject({ status: 200, body: { status: 'active', price: 99000 } })

    const company = await insertWaitingCompany(person.id)
    const edited = await beside(
      byRow
        ? row('verify_identity', company)
        : [`update public.identities set status = 'active' where id = $1`, [company]],
      'update_identity',
      () => person.patch(`/auth/identities/${company}`, { aboutAr: 'مكتب قديم في الديرة' }),
    )
    expect(edited).toMatchObject({ status: 200, body: { status: 'active', verified: true } })
  },
)
