import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, newPhone, type Person, signIn, signUp } from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { publishListing } from '../support/listings.ts'
import { hasSandbox, moneyFingerprint, topUp } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import { registerDevice } from '../support/notifications.ts'
import { storedFiles, uploadAvatar, uploadPictures } from '../support/uploads.ts'
import { givePhone, insertOrganisation } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { waitUntil } from '../support/wait.ts'

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

const reason = 'بطلب من صاحبه'
const remove = (id: string) => admin.delete(`/admin/users/${id}`, { reason })

type Leaver = Awaited<ReturnType<typeof somebody>>

/** Creates a person with data in every area, with texts and numbers that nobody else has. */
async function somebody() {
  const mark = randomUUID().slice(0, 8)
  const name = `ضاحي${mark} المغادر`
  const company = `شركة${mark} الراحلة`
  const title = `بيت${mark} كبير للبيع`
  const said = `كلام${mark} مكتوب`
  const phone = newPhone()
  const [person, friend] = [await signUp(name), await signUp()]
  await givePhone(person, phone)
  const companyId = await insertOrganisation(person.id)
  await person.patch(`/auth/identities/${companyId}`, {
    phone: `+965${phone}`,
    email: `office-${person.identifier}`,
    website: `https://${mark}.example`,
    aboutAr: company,
  })
  await uploadAvatar(person, jpeg({ width: 40, height: 30 }))
  const listing = await publishListing(person, {
    titleAr: title,
    descriptionAr: title,
    street: title,
  })
  await uploadPictures(person, [jpeg({ width: 60, height: 40 })], { propertyId: listing.id })
  const { id: saved } = await publishListing(friend)
  await person.get(`/properties/${saved}`)
  await person.post(`/favorites/${saved}`)
  const { body: conversation } = await friend.post('/conversations', {
    propertyId: listing.id,
    message: `سؤال${mark}`,
  })
  await person.post(`/conversations/${conversation.id}/messages`, {
    clientMessageId: randomUUID(),
    type: 'text',
    body: said,
  })
  const review = { identityId: friend.identityId, rating: 2, comment: `${title} تقييم` }
  expect((await person.post('/reviews', review)).status).toBe(201)
  await person.post('/reports', {
    targetType: 'identity',
    targetId: friend.identityId,
    reason: 'other',
    note: `${title} بلاغ`,
  })
  await registerDevice(person, { pushToken: `token-${mark}-${randomUUID()}` })
  await person.patch('/settings', { quietHours: { from: '22:00', to: '07:00' } })
  await person.post('/auth/identities', {
    type: 'office',
    nameAr: company,
    licenceNo: randomUUID().slice(0, 12).toUpperCase(),
    licenceExpiresOn: '2040-01-01',
  }, { headers: { 'idempotency-key': randomUUID() } })
  await guest.post('/auth/password/forgot', { identifier: person.identifier })
  // In older projects, Auth's log contains entries about everyone.
  await database().query(
    `insert into auth.audit_log_entries (id, payload, created_at) values
       (gen_random_uuid(), json_build_object('action', 'login', 'actor_id', $1::uuid,
         'actor_name', $2::text, 'actor_username', $3::text), now()),
       (gen_random_uuid(), json_build_object('action', 'user_modified', 'actor_username',
         'service_role', 'actor_id', '00000000-0000-0000-0000-000000000000', 'traits',
         json_build_object('user_id', $1::uuid, 'user_email', $3::text, 'user_phone', $4::text)),
         now())`,
    [person.id, name, person.identifier, phone],
  )
  return {
    person,
    friend,
    companyId,
    listing: listing.id as string,
    conversation: conversation.id as string,
    said,
    phone,
    needles: [mark, person.identifier, phone],
  }
}

const exempt: Record<string, string> = {
  'private.rate_hits': 'counts for the phone or email, gone within a day',
  'private.search_vocabulary': 'single words without whose',
  'private.search_word_changes': 'single words without whose, gone within a minute',
  'public.messages': 'what was written to somebody stays with them',
  'realtime.messages': 'events that were sent, gone with their day',
}

async function tablesWith(needles: string[]): Promise<string[]> {
  const { rows: tables } = await database().query(
    `select format('%I.%I', nspname, relname) as name from pg_class
     join pg_namespace on pg_namespace.oid = relnamespace
     where relkind = 'r' and nspname in ('public', 'private', 'auth', 'storage', 'realtime')
       and has_table_privilege(pg_class.oid, 'select')`,
  )
  const found = []
  for (const { name } of tables) {
    if (Object.keys(exempt).some((one) => name.startsWith(one))) continue
    const { rows } = await database().query(
      `select from ${name} as held where held::text ilike any ($1) limit 1`,
      [needles.map((needle) => `%${needle}%`)],
    )
    if (rows.length) found.push(name)
  }
  return found
}

async function expectGone({ person, friend, listing, conversation, said, needles }: Leaver) {
  expect(await person.get('/auth/me')).toMatchObject({ status: 401 })
  expect(await countSessions(person.id)).toBe(0)
  const { identifier, password } = person
  expect(await guest.post('/auth/login', { identifier, password })).toMatchObject({ status: 401 })
  expect(await guest.post('/auth/refresh', { refreshToken: person.refreshToken }))
    .toMatchObject({ status: 401 })
  expect((await guest.get(`/properties/${listing}`)).status).toBe(404)

  const { body: list } = await friend.get('/conversations')
  expect(list.items.find(({ id }: { id: string }) => id === conversation).peer)
    .toMatchObject({ displayName: 'حساب محذوف', avatarUrl: null })
  const { body: history } = await friend.get(`/conversations/${conversation}/messages`)
  expect(history.items.map(({ body }: { body: string }) => body)).toContain(said)

  await runJobs()
  await runJobs()
  await expect.poll(() => storedFiles(person.identityId)).toEqual([])
  await expect.poll(() => tablesWith(needles)).toEqual([])
  const { rows } = await database().query(
    `select accounts.status, count(*) filter (where identities.status = 'closed')::int as closed,
       count(*)::int as all
     from public.accounts join public.identities on account_id = accounts.id
     where accounts.id = $1 group by accounts.status`,
    [person.id],
  )
  expect(rows).toEqual([{ status: 'deleted', closed: 3, all: 3 }])
}

describe('ADM-03 what deletion leaves', () => {
  test('before the deletion the texts are found where they are', async () => {
    const { needles } = await somebody()
    const tables = await tablesWith(needles)
    for (const table of ['auth.users', 'public.accounts', 'public.organisations']) {
      expect(tables).toContain(table)
    }
    expect(tables).toContain('auth.audit_log_entries')
    await runJobs()
    expect(await tablesWith(needles)).toContain('auth.audit_log_entries')
    for (const table of ['public.properties', 'public.devices', 'private.idempotency_keys']) {
      expect(tables).toContain(table)
    }
    expect(tables).toEqual(expect.arrayContaining(['public.reviews', 'public.reports']))
  })

  test('an admin deletes all of the person and nothing of others; repeating it changes nothing', async () => {
    const leaver = await somebody()
    const { id } = leaver.person
    expect((await remove(id)).status).toBe(204)
    expect((await remove(id)).status).toBe(204)
    await expectGone(leaver)
    expect((await admin.get(`/admin/users/${id}`)).body.user)
      .toMatchObject({ email: null, phone: null, fullName: null, status: 'deleted' })
    expect((await auditOf(admin, id)).map(({ action }) => action)).toEqual(['account.deleted'])
    expect(await admin.patch(`/admin/users/${id}/status`, { status: 'active', reason }))
      .toMatchObject({ status: 409, body: { error: { code: 'status_transition_invalid' } } })
  })

  test.runIf(hasSandbox)('records of money stay, and name nobody', async () => {
    const leaver = await somebody()
    await topUp(leaver.person, 25)
    const before = await moneyFingerprint(leaver.person.identityId)
    expect((await remove(leaver.person.id)).status).toBe(204)
    await expectGone(leaver)
    expect(await moneyFingerprint(leaver.person.identityId)).toBe(before)
  })

  test('REG-25 phone, email and licence are free, and a new account with them is empty', async () => {
    const { person, phone } = await somebody()
    await remove(person.id)
    const { identifier, password } = person
    expect((await guest.post('/auth/register', { identifier, password })).status).toBe(201)
    const again = await signIn(identifier, password)
    expect(again.id).not.toBe(person.id)
    await givePhone(again, phone)
    for (const path of ['/favorites', '/conversations', '/notifications', '/devices', '/blocks']) {
      const { status, body } = await again.get(path)
      expect([path, status, body.items.filter(isNoSignIn)]).toEqual([path, 200, []])
    }
    expect((await again.get('/properties/mine')).body.items).toEqual([])
  })
})

const isNoSignIn = ({ kind }: { kind?: string }) => kind !== 'security_login'

describe('deletion that a person asks for', () => {
  const ask = (person: Person, body: object = { password: person.password }) =>
    person.post('/auth/me/delete', body)
  const makeDue = ({ id }: Person, by: Pick<pg.Pool, 'query'> = database()) =>
    by.query(
      `update public.accounts set delete_at = now() - interval '1 second' where id = $1`,
      [id],
    )

  /** Signs in at the moment when the account becomes due, so that no other test's job deletes it first. */
  async function signInOnceDue(person: Person) {
    const clock = await database().connect()
    try {
      await clock.query('begin')
      await makeDue(person, clock)
      const { rows: [{ pid }] } = await clock.query('select pg_backend_pid() as pid')
      const signedIn = signIn(person.identifier, person.password)
      await waitUntil('the sign-in to wait for the account', async () => {
        const { rowCount } = await database().query(
          'select from pg_locks where not granted and $1 = any(pg_blocking_pids(pid))',
          [pid],
        )
        return rowCount! > 0
      })
      await clock.query('commit')
      return await signedIn
    } finally {
      clock.release(true)
    }
  }

  test('is carried out after 14 days, not before', async () => {
    const leaver = await somebody()
    const { person } = leaver
    const { status, body } = await ask(person)
    expect(status).toBe(202)
    const days = (Date.parse(body.deleteAt) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(13.99)
    expect(days).toBeLessThanOrEqual(14)
    expect((await person.get('/auth/me')).status).toBe(401)
    await runJobs()
    expect((await admin.get(`/admin/users/${person.id}`)).body.user)
      .toMatchObject({ status: 'active', deleteAt: body.deleteAt, email: person.identifier })
    await makeDue(person)
    await runJobs()
    await expectGone(leaver)
  })

  test('signing in cancels it, also at the last moment', async () => {
    const person = await signUp()
    await ask(person)
    const again = await signInOnceDue(person)
    await runJobs()
    expect((await again.get('/auth/me')).status).toBe(200)
    expect((await admin.get(`/admin/users/${person.id}`)).body.user)
      .toMatchObject({ status: 'active', deleteAt: null })
  })

  test('is refused until an auction is over', async () => {
    const person = await signUp()
    const { id } = await publishListing(person)
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const auction = { startsAt: at(1), endsAt: at(5), startPrice: 1, minIncrement: 1 }
    expect((await person.post(`/properties/${id}/auction`, auction)).status).toBeLessThan(300)
    const owing = (obligations: string[]) => ({
      status: 409,
      body: { error: { code: 'account_has_obligations', obligations } },
    })
    expect(await ask(person)).toMatchObject(owing(['auction']))
    expect((await person.get('/auth/me')).status).toBe(200)
    expect((await ask(person, { password: 'another one' })).status).toBe(401)
    await person.delete(`/properties/${id}/auction`)
    expect((await ask(person)).status).toBe(202)
  })

  test.runIf(hasSandbox)(
    'is refused while money is pending, at the request and again when due',
    async () => {
      const person = await signUp()
      await topUp(person, 12.5)
      expect(await ask(person)).toMatchObject({
        status: 409,
        body: { error: { code: 'account_has_obligations', obligations: ['money'] } },
      })
      await database().query(
        `update public.accounts set delete_at = now() where id = $1`,
        [person.id],
      )
      await runJobs()
      expect((await admin.get(`/admin/users/${person.id}`)).body.user.status).toBe('active')
    },
  )
})

describe('export', () => {
  test("contains all that is one's own, and of others only their messages", async () => {
    const { person, friend, companyId, listing, said } = await somebody()
    const [conversation] = (await person.get('/conversations')).body.items
    const aside = { muted: true, archived: true, upToSeq: 2 }
    expect((await person.patch(`/conversations/${conversation.id}`, aside)).status).toBe(200)
    const { status, body, headers } = await person.get('/auth/me/export')
    expect(status).toBe(200)
    expect(headers.get('content-disposition')).toContain('attachment')
    expect(headers.get('cache-control')).toBe('private, no-store')
    expect(body.user).toMatchObject({ id: person.id, email: person.identifier })
    expect(body.settings.quietHours).toEqual({ from: '22:00', to: '07:00' })
    expect(body.devices).toHaveLength(1)
    expect(body.reports).toMatchObject([{ targetId: friend.identityId, reason: 'other' }])
    expect(body.identities).toHaveLength(3)
    const [individual, company] = body.identities
    expect(company.identity.id).toBe(companyId)
    expect(individual).toMatchObject({
      identity: { id: person.identityId },
      listings: [{ id: listing }],
      reviews: [{ subjectIdentityId: friend.identityId, rating: 2 }],
      conversations: [{
        opened: false,
        muted: true,
        archived: true,
        messages: [{ mine: false }, { mine: true, body: said }],
      }],
    })
    expect(individual.favorites).toHaveLength(1)
    expect(individual.views).toEqual([{ propertyId: expect.any(String), day: expect.any(String) }])
    expect(individual.pictures).toHaveLength(2)
    const text = JSON.stringify(body)
    for (const others of [friend.id, friend.identifier, person.refreshToken, 'token-']) {
      expect(text).not.toContain(others)
    }
    expect((await guest.get('/auth/me/export')).status).toBe(401)
  })
})
