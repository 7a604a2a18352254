import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, demote, makeAdmin, signUpAdmin } from '../support/admins.ts'
import {
  database,
  guest,
  newPhone,
  type Person,
  projectUrl,
  signIn,
  signUp,
} from '../support/client.ts'
import { countSessions } from '../support/codes.ts'
import { publishListing } from '../support/listings.ts'
import { operations, requestWith } from '../support/openapi.ts'
import { race } from '../support/races.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { unknownId } from '../support/problems.ts'

const reason = 'إعلانات مخالفة'

let admin: Person
let person: Person

beforeAll(async () => {
  admin = await signUpAdmin()
  person = await signUp()
})

const statusOf = (by: Person, id: string, body: object) =>
  by.patch(`/admin/users/${id}/status`, { reason, ...body })
const identityOf = (by: Person, id: string, status: string) =>
  by.patch(`/admin/identities/${id}/status`, { status, reason })

const adminOnly = { status: 403, body: { error: { code: 'admin_only' } } }

describe('ISO-10 admin routes for everybody else', () => {
  const routes = operations.filter(({ path }) => path.startsWith('/admin'))
  const states = () =>
    database().query(
      `select md5(string_agg(accounts::text, ',' order by id)) as hash from public.accounts
       where id = any ($1)`,
      [[person.id, admin.id]],
    ).then(({ rows }) => rows[0].hash)

  test('there are the routes of the contract', () => {
    expect(routes.length).toBeGreaterThanOrEqual(9)
  })

  test.each(routes)('$method $path', async (operation) => {
    const before = await states()
    const [company, office, suspended, demoted] = await Promise.all([
      signUp(),
      signUp(),
      signUpAdmin(),
      signUpAdmin(),
    ])
    for (const [who, type] of [[company, 'company'], [office, 'office']] as const) {
      const identityId = await insertOrganisation(who.id, type)
      await who.post('/auth/identity/switch', { identityId })
    }
    await database().query(`update public.accounts set status = 'suspended' where id = $1`, [
      suspended.id,
    ])
    await demote(demoted)
    const { path, body } = requestWith(operation)
    const at = path.replace(/[0-9a-f-]{36}/, person.id)
    const send = (by: Pick<Person, 'get' | 'post' | 'patch' | 'put' | 'delete'>) => {
      const method = operation.method.toLowerCase() as 'post'
      return method as string === 'get' ? by.get(at) : by[method](at, body)
    }
    expect(await send(guest)).toMatchObject({ status: 401 })
    for (const by of [person, company, office, demoted]) {
      const reply = await send(by)
      expect(reply).toMatchObject(adminOnly)
      expect(Object.keys(reply.body)).toEqual(['error'])
    }
    expect(await send(suspended)).toMatchObject({
      status: 403,
      body: { error: { code: 'account_suspended' } },
    })
    for (const method of ['post', 'put', 'patch', 'delete'] as const) {
      // Another method of the path wants another body.
      expect([403, 405, 422], method).toContain((await person[method](at, body)).status)
    }
    expect(await states()).toBe(before)
  })

  test('HEAD tells nothing, OPTIONS only lists', async () => {
    const url = `${projectUrl}/functions/v1/api/admin/users`
    const headers = { authorization: `Bearer ${person.accessToken}` }
    const head = await fetch(url, { method: 'HEAD', headers })
    expect([head.status, await head.text()]).toEqual([403, ''])
    const options = await fetch(url, { method: 'OPTIONS', headers })
    expect(await options.text()).not.toContain('@')
  })
})

describe('ADM-01 demoted and suspended admins', () => {
  test.each(['demoted', 'suspended', 'banned'])('%s while at work: nothing more', async (how) => {
    const second = await signUpAdmin()
    let done = false
    const seen: number[] = []
    const working = (async () => {
      while (!done) {
        const status = ['suspended', 'active'][seen.length % 2]
        seen.push((await statusOf(second, person.id, { status })).status)
        await sleep(10)
      }
    })()
    await sleep(300)
    if (how === 'demoted') await demote(second)
    else expect(await statusOf(admin, second.id, { status: how })).toMatchObject({ status: 200 })
    const { rows: [{ now }] } = await database().query('select clock_timestamp()::text as now')
    for (let i = 0; i < 5; i++) {
      expect((await statusOf(second, person.id, { status: 'banned' })).status).toBe(403)
      expect((await second.get('/admin/users')).status).toBe(403)
    }
    done = true
    await working
    expect(seen).toContain(200)
    const { rows } = await database().query(
      'select count(*)::int from public.audit where actor_id = $1 and at > $2',
      [second.id, now],
    )
    expect(rows[0].count).toBe(0)
    await statusOf(admin, person.id, { status: 'active' })
    person = await signIn(person.identifier, person.password)
  })
})

describe('ADM-02 two admins, one user', () => {
  test('different states at once: one holds, both are in the record', async () => {
    const second = await signUpAdmin()
    const target = await signUp()
    for (let round = 0; round < 100; round++) {
      const replies = await Promise.all([
        statusOf(admin, target.id, { status: 'suspended' }),
        statusOf(second, target.id, { status: round % 2 ? 'active' : 'banned' }),
      ])
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
    }
    const { rows } = await database().query(
      `select count(*)::int from public.audit where target_id = $1 and action = 'account.status'`,
      [target.id],
    )
    expect(rows[0].count).toBe(200)
    const shown = await admin.get(`/admin/users/${target.id}`)
    expect(shown.body.audit[0].after.status).toBe(shown.body.user.status)
    expect(shown.body.audit).toHaveLength(20)
  })

  test('the same state twenty times at once changes it once', async () => {
    const target = await signUp()
    const replies = await race(Array.from({ length: 20 }, () => ({
      method: 'PATCH',
      path: `/admin/users/${target.id}/status`,
      body: { status: 'suspended', reason },
      headers: [['authorization', `Bearer ${admin.accessToken}`]] as [string, string][],
    })))
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect((await admin.get(`/admin/users/${target.id}`)).body.user)
      .toMatchObject({ status: 'suspended', statusReason: reason, suspendedUntil: null })
  })

  test('what is no state, no reason, no time, nobody', async () => {
    const invalid: object[] = [
      { status: 'deleted' },
      { status: 'Active' },
      { status: null },
      { status: 'suspended', reason: ' ' },
      { status: 'suspended', reason: 'a\u0007b' },
      { status: 'suspended', reason: 'ا'.repeat(501) },
      { status: 'suspended', reason: undefined },
      { status: 'suspended', until: '2020-01-01T00:00:00Z' },
      { status: 'suspended', until: 'tomorrow' },
      { status: 'banned', until: '2040-01-01T00:00:00Z' },
      { status: 'active', until: '2040-01-01T00:00:00Z' },
      { status: 'suspended', account: person.id },
    ]
    for (const body of invalid) {
      expect((await statusOf(admin, person.id, body)).status, JSON.stringify(body)).toBe(422)
    }
    const unknown = { status: 404, body: { error: { code: 'user_not_found' } } }
    expect(await statusOf(admin, unknownId, { status: 'banned' })).toMatchObject(unknown)
    expect(await statusOf(admin, person.identityId, { status: 'banned' })).toMatchObject(unknown)
    expect(await admin.get(`/admin/users/${unknownId}`)).toMatchObject(unknown)
    expect(await admin.delete(`/admin/users/${unknownId}`, { reason })).toMatchObject(unknown)
    expect(await identityOf(admin, unknownId, 'active'))
      .toMatchObject({ status: 404, body: { error: { code: 'identity_not_found' } } })
    expect((await person.get('/auth/me')).status).toBe(200)
  })
})

describe('AUTH-13 locking an account', () => {
  test('ends its sessions at once and tells why; released, all is there', async () => {
    const target = await signUp()
    const { id } = await publishListing(target)
    expect(await statusOf(admin, target.id, { status: 'suspended' }))
      .toMatchObject({ status: 200, body: { id: target.id, status: 'suspended' } })
    expect(await countSessions(target.id)).toBe(0)
    const refusal = { status: 403, body: { error: { code: 'account_suspended' } } }
    expect(await target.get('/auth/me')).toMatchObject(refusal)
    const { identifier, password } = target
    expect(await guest.post('/auth/login', { identifier, password })).toMatchObject(refusal)
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect(await guest.post('/auth/refresh', { refreshToken: target.refreshToken }))
      .toMatchObject({ status: 401 })

    expect(await statusOf(admin, target.id, { status: 'active' }))
      .toMatchObject({ body: { status: 'active', statusReason: null } })
    expect((await target.get('/auth/me')).status).toBe(401) // the old session is gone for good
    const again = await signIn(identifier, password)
    expect((await again.get(`/properties/${id}`)).body.id).toBe(id)
    expect(await auditOf(admin, target.id)).toMatchObject([
      { after: { status: 'active' }, before: { status: 'suspended' }, actor: { id: admin.id } },
      { after: { status: 'suspended' }, reason, action: 'account.status', targetType: 'account' },
    ])
  })

  test('a suspension can have an end', async () => {
    const target = await signUp()
    const until = new Date(Date.now() + 86_400_000).toISOString()
    const { body } = await statusOf(admin, target.id, { status: 'suspended', until })
    expect(Date.parse(body.suspendedUntil)).toBe(Date.parse(until))
  })

  test('done in Studio or by SQL it does the same, and is in the record', async () => {
    const target = await signUp()
    await database().query(
      `update public.accounts set status = 'suspended', status_reason = $2 where id = $1`,
      [target.id, reason],
    )
    expect(await countSessions(target.id)).toBe(0)
    expect(await auditOf(admin, target.id)).toMatchObject([{
      action: 'account.status',
      actor: null,
      actorRole: 'postgres',
      reason,
      before: { status: 'active' },
      after: { status: 'suspended' },
    }])
  })
})

describe('the last admin', () => {
  test('nobody does it to himself', async () => {
    const self = { status: 409, body: { error: { code: 'admin_self' } } }
    const { id, identityId } = admin
    for (const status of ['active', 'suspended', 'banned']) {
      expect(await statusOf(admin, id, { status })).toMatchObject(self)
    }
    expect(await admin.delete(`/admin/users/${id}`, { reason })).toMatchObject(self)
    expect(await identityOf(admin, identityId, 'suspended')).toMatchObject(self)
    const company = await insertOrganisation(id)
    expect(await identityOf(admin, company, 'suspended')).toMatchObject(self)
    expect((await admin.get('/auth/me')).status).toBe(200)
    expect(await auditOf(admin, id)).toMatchObject([{ action: 'admin.changed' }])
  })

  test('making and removing admins is in the record', async () => {
    const other = await makeAdmin(await signUp())
    await demote(other)
    expect(await auditOf(admin, other.id)).toMatchObject([
      { action: 'admin.changed', before: { account_id: other.id }, after: null },
      { action: 'admin.changed', before: null, after: { account_id: other.id, role: 'admin' } },
    ])
  })
})

describe('identities', () => {
  const asked = async () => {
    const owner = await signUp()
    const { body } = await owner.post('/auth/identities', {
      type: 'office',
      nameAr: 'مكتب الواحة',
      licenceNo: randomUUID().slice(0, 12).toUpperCase(),
      licenceExpiresOn: '2040-01-01',
    })
    return { owner, id: body.id as string }
  }

  test('verified, suspended and released; each step is in the record', async () => {
    const { owner, id } = await asked()
    expect((await guest.get(`/office/${id}`)).status).toBe(404)
    expect((await identityOf(admin, id, 'active')).body)
      .toMatchObject({ id, status: 'active', verified: true })
    expect((await guest.get(`/office/${id}`)).status).toBe(200)
    await owner.post('/auth/identity/switch', { identityId: id })
    const listing = (await publishListing(owner)).id

    expect((await identityOf(admin, id, 'suspended')).body)
      .toMatchObject({ status: 'suspended', statusReason: reason })
    expect((await guest.get(`/office/${id}`)).status).toBe(404)
    expect((await guest.get(`/properties/${listing}`)).status).toBe(404)
    expect((await owner.get('/auth/me')).body.activeIdentity).toBe(null)
    expect(await owner.get('/office/profile')).toMatchObject({ status: 403 })

    expect((await identityOf(admin, id, 'active')).body).toMatchObject({ statusReason: null })
    expect((await guest.get(`/properties/${listing}`)).status).toBe(200)
    const trail = await auditOf(admin, id)
    expect(trail.map(({ before, after }) => [before.status, after.status])).toEqual([
      ['suspended', 'active'],
      ['active', 'suspended'],
      ['pending_verification', 'active'],
    ])
  })

  test('states that do not follow one another are refused, repeats are harmless', async () => {
    const { owner, id } = await asked()
    const refused = (from: string, allowed: string[]) => ({
      status: 409,
      body: { error: { code: 'status_transition_invalid', from, allowed } },
    })
    expect(await identityOf(admin, id, 'suspended'))
      .toMatchObject(refused('pending_verification', ['active', 'rejected']))
    expect((await identityOf(admin, id, 'rejected')).status).toBe(200)
    expect((await identityOf(admin, id, 'rejected')).body)
      .toMatchObject({ status: 'rejected', statusReason: reason })
    expect(await identityOf(admin, id, 'active')).toMatchObject(refused('rejected', []))
    // Who was refused mends it and waits again.
    expect((await owner.patch(`/auth/identities/${id}`, { nameAr: 'مكتب الواحة الجديد' })).body)
      .toMatchObject({ status: 'pending_verification' })
    expect((await identityOf(admin, id, 'active')).status).toBe(200)

    const individual = owner.identityId
    expect(await identityOf(admin, individual, 'rejected'))
      .toMatchObject(refused('active', ['suspended']))
    expect((await identityOf(admin, individual, 'active')).status).toBe(200)
  })

  test('nobody is verified with a licence that is over', async () => {
    const { id } = await asked()
    await database().query(
      `update public.organisations set licence_expires_on = '2020-01-01' where identity_id = $1`,
      [id],
    )
    expect(await identityOf(admin, id, 'active'))
      .toMatchObject({ status: 422, body: { error: { code: 'licence_expired' } } })
  })

  test('IDN-06 an acting identity that is suspended acts no more, and nobody else does for it', async () => {
    const owner = await signUp()
    const company = await insertOrganisation(owner.id)
    await owner.post('/auth/identity/switch', { identityId: company })
    await identityOf(admin, company, 'suspended')
    expect(await owner.get('/company/profile')).toMatchObject({ status: 403 })
    expect(await owner.post('/properties', { type: 'SALE' }))
      .toMatchObject({ status: 403, body: { error: { code: 'identity_not_usable' } } })
    const session = await guest.post('/auth/login', owner)
    expect(session.status).toBe(422) // the whole person is no sign-in
    const again = await signIn(owner.identifier, owner.password)
    expect((await again.get('/auth/me')).body).toMatchObject({
      activeIdentity: { id: owner.identityId },
      identities: [{ status: 'active' }, { id: company, status: 'suspended' }],
    })
  })
})

describe('ADM-04 lists', () => {
  test('users are found by email, phone, name, id, state and type', async () => {
    const name = `شيخة ${randomUUID().slice(0, 8)}`
    const made = [await signUp(name), await signUp(name), await signUp(name)]
    const phone = newPhone()
    await database().query('update auth.users set phone = $2 where id = $1', [
      made[0]!.id,
      `965${phone}`,
    ])
    const found = async (query: Record<string, string>) => {
      const { status, body } = await admin.get(`/admin/users?${new URLSearchParams(query)}`)
      expect(status, JSON.stringify(body)).toBe(200)
      return body.items.map(({ id }: { id: string }) => id)
    }
    const all = made.map(({ id }) => id).toReversed()
    expect(await found({ q: name })).toEqual(all)
    expect(await found({ q: name.replace('شيخة', 'شيخه') })).toEqual(all)
    expect(await found({ q: made[1]!.identifier.toUpperCase() })).toEqual([made[1]!.id])
    expect(await found({ q: made[1]!.identifier.slice(3, 30) })).toEqual([made[1]!.id])
    const digits = phone.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]!)
    for (const q of [phone, `+965${phone}`, `965 ${phone}`, digits]) {
      expect(await found({ q })).toContain(made[0]!.id)
    }
    expect(await found({ q: made[2]!.id })).toEqual([made[2]!.id])
    expect(await found({ q: made[2]!.identityId })).toEqual([made[2]!.id])

    await statusOf(admin, made[1]!.id, { status: 'suspended' })
    expect(await found({ q: name, status: 'suspended' })).toEqual([made[1]!.id])
    await insertOrganisation(made[2]!.id, 'office')
    expect(await found({ q: name, type: 'office' })).toEqual([made[2]!.id])
    expect(await found({ q: name, type: 'company' })).toEqual([])

    // Pages join while somebody comes.
    const first = (await admin.get(`/admin/users?limit=2&q=${encodeURIComponent(name)}`)).body
    await signUp(name)
    const next = `/admin/users?limit=2&q=${encodeURIComponent(name)}&cursor=${first.nextCursor}`
    const second = (await admin.get(next)).body
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(all)
    expect(second.nextCursor).toBe(null)
    const other = await signUpAdmin()
    for (const path of [next.replace('limit=2', 'status=active'), next]) {
      const reply = await (path === next ? other : admin).get(path)
      expect([reply.status, reply.body.error?.code]).toEqual([422, 'cursor_invalid'])
    }
  })

  test('a name that thousands have is looked for in one account after another, alike', async () => {
    const name = `ترف ${newPhone()}`
    const people = await Promise.all([name, `${name} الثاني`, 'غيرها'].map((one) => signUp(one)))
    const ids = people.map(({ id }) => id)
    for (
      const q of [name, name.slice(2), people[2]!.identifier, people[2]!.identifier.slice(3, 30)]
    ) {
      const { body } = await admin.get(`/admin/users?${new URLSearchParams({ q, limit: '50' })}`)
      const { rows } = await database().query(
        `select id from public.accounts
         where id = any ($1) and private.matches_user(accounts, private.tidy($2))`,
        [ids, q],
      )
      const listed = body.items.map(({ id }: { id: string }) => id)
      expect(rows.map(({ id }) => id).sort(), q)
        .toEqual(ids.filter((id) => listed.includes(id)).sort())
      expect(rows.length, q).toBeGreaterThan(0)
    }
  })

  test('INP-03 text is text: no pattern, no query, no filter of its own', async () => {
    const texts = [
      '%%',
      '__',
      '%',
      "a' or '1'='1",
      'x,owner_identity_id.neq.0',
      '%,title.ilike.%a%',
      'a),or(status.eq.draft',
      '"a"',
      'a\\',
      '((',
      '&select=*',
      'id=gt.0',
      '\\%',
      '**',
    ]
    for (const q of texts) {
      const reply = await admin.get(`/admin/users?${new URLSearchParams({ q })}`)
      expect([200, 422], q).toContain(reply.status)
      if (reply.status === 200 && /[%_]/.test(q)) expect(reply.body.items, q).toEqual([])
    }
    for (const query of ['q=a', 'q=ab', 'status=gone', 'type=person', 'limit=51', 'sort=x', 'q=']) {
      expect((await admin.get(`/admin/users?${query}`)).status, query).toBe(422)
    }
  })

  test('no list and no page names a password, code, token or key, nor the account of nobody', async () => {
    // An unknown identifier is tried against the account of nobody.
    await guest.post('/auth/login', { identifier: `${randomUUID()}@example.com`, password: 'x' })
    const { rows: [decoy] } = await database().query(
      `select id from auth.users where email = 'decoy@accounts.invalid'`,
    )
    expect(decoy).toBeTruthy()
    const { rows: [secret] } = await database().query(
      'select encrypted_password from auth.users where id = $1',
      [person.id],
    )
    const pages = [
      await admin.get('/admin/users?q=decoy'),
      await admin.get(`/admin/users?q=${decoy.id}`),
      await admin.get(`/admin/users?q=${person.id}`),
      await admin.get(`/admin/users/${person.id}`),
      await admin.get('/admin/audit?limit=50'),
      await admin.get('/admin/stats'),
      await admin.get('/admin/moderation'),
    ]
    expect(pages.map(({ status }) => status)).toEqual(Array(7).fill(200))
    expect(pages[0]!.body.items).toEqual([])
    expect(pages[1]!.body.items).toEqual([])
    const text = JSON.stringify(pages.map(({ body }) => body))
    for (const one of [secret.encrypted_password, person.refreshToken, person.accessToken]) {
      expect(text).not.toContain(one)
    }
    expect(text).not.toMatch(/password|recovery|confirmation|"token|hmac|secret/i)
    const unknown = { status: 404, body: { error: { code: 'user_not_found' } } }
    expect(await admin.get(`/admin/users/${decoy.id}`)).toMatchObject(unknown)
    expect(await statusOf(admin, decoy.id, { status: 'banned' })).toMatchObject(unknown)
    expect(await admin.delete(`/admin/users/${decoy.id}`, { reason })).toMatchObject(unknown)
  })

  test('figures add up while people come', async () => {
    let coming = true
    const arrivals = (async () => {
      while (coming) await signUp()
    })()
    for (let i = 0; i < 10; i++) {
      const { status, body } = await admin.get('/admin/stats')
      expect(status).toBe(200)
      const sum = (counts: Record<string, number>) =>
        Object.values(counts).reduce((all, one) => all + one, 0)
      expect(sum(body.users.byStatus)).toBe(body.users.total)
      expect(sum(body.listings.byStatus)).toBe(body.listings.total)
      expect(
        Object.values<Record<string, number>>(body.identities.byType).map(sum)
          .reduce((all, one) => all + one, 0),
      ).toBe(body.identities.total)
    }
    coming = false
    await arrivals
  })

  test('the audit trail is found by who, what, to what and when', async () => {
    const second = await signUpAdmin()
    const target = await signUp()
    for (const status of ['suspended', 'active', 'banned']) {
      await statusOf(second, target.id, { status })
    }
    const entries = async (query: Record<string, string>) => {
      const all = { actorId: second.id, ...query }
      const reply = await admin.get(`/admin/audit?${new URLSearchParams(all)}`)
      expect(reply.status).toBe(200)
      return reply.body.items.map(({ after }: { after: { status: string } }) => after.status)
    }
    expect(await entries({})).toEqual(['banned', 'active', 'suspended'])
    expect(await entries({ targetId: target.id, targetType: 'account', action: 'account.status' }))
      .toEqual(['banned', 'active', 'suspended'])
    expect(await entries({ action: 'identity.status' })).toEqual([])
    expect(await entries({ since: new Date(Date.now() + 60_000).toISOString() })).toEqual([])
    expect(await entries({ until: new Date(Date.now() - 60_000).toISOString() })).toEqual([])
    const first = (await admin.get(`/admin/audit?actorId=${second.id}&limit=2`)).body
    const rest = (await admin.get(
      `/admin/audit?actorId=${second.id}&limit=2&cursor=${first.nextCursor}`,
    )).body
    expect([...first.items, ...rest.items].map(({ after }) => after.status))
      .toEqual(['banned', 'active', 'suspended'])
    expect(rest.nextCursor).toBe(null)
  })
})

describe('the audit trail', () => {
  test.each(['update public.audit set reason = null', 'delete from public.audit'])(
    'nobody, not even its owner, can: %s',
    async (sql) => {
      await expect(database().query(sql)).rejects.toMatchObject({ code: '42501' })
      await expect(database().query(`${sql} where id = 1`)).rejects.toMatchObject({ code: '42501' })
      await expect(database().query('truncate public.audit')).rejects
        .toMatchObject({ code: '42501' })
      for (const role of ['anon', 'authenticated', 'service_role']) {
        const client = await database().connect()
        try {
          await client.query(`begin; set local role ${role}`)
          await expect(client.query(sql)).rejects.toMatchObject({ code: '42501' })
          await client.query('rollback; begin')
          await client.query(`set local role ${role}`)
          await expect(client.query(
            `insert into public.audit (action, target_type) values ('x', 'y')`,
          )).rejects.toMatchObject({ code: '42501' })
        } finally {
          await client.query('rollback')
          client.release()
        }
      }
    },
  )

  test('what people do with their own, and jobs by the thousand, are not in it', async () => {
    const owner = await signUp()
    const { id } = await publishListing(owner)
    await owner.post(`/properties/${id}/pause`)
    await owner.post('/auth/me/delete', { password: owner.password })
    await signIn(owner.identifier, owner.password)
    expect(await auditOf(admin, id)).toEqual([])
    expect(await auditOf(admin, owner.id)).toEqual([])
  })

  test('a listing changed by SQL and a switch in Studio are in it', async () => {
    const { id } = await publishListing(await signUp())
    await database().query(`update public.properties set status = 'archived' where id = $1`, [id])
    expect(await auditOf(admin, id)).toMatchObject([
      { action: 'property.status', before: { status: 'active' }, after: { status: 'archived' } },
    ])
    const client = await database().connect()
    try {
      await client.query('begin')
      await client.query(
        `update private.settings set value = 'true' where name = 'review_listings'`,
      )
      const { rows } = await client.query('select * from public.audit order by id desc limit 1')
      expect(rows).toMatchObject([{
        action: 'setting.changed',
        before: { name: 'review_listings', value: false },
        after: { name: 'review_listings', value: true },
      }])
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})

describe('listings', () => {
  const decide = (id: string, body: object, by = admin) =>
    by.post(`/admin/moderation/${id}/decide`, body)

  test('a listing is suspended with a reason and restored as it was', async () => {
    const owner = await signUp()
    const { id } = await publishListing(owner)
    expect((await decide(id, { decision: 'suspend' })).status).toBe(422)
    expect((await decide(id, { decision: 'suspend', reason })).body)
      .toEqual({ id, kind: 'listing', status: 'suspended', decisions: ['restore'] })
    expect((await guest.get(`/properties/${id}`)).status).toBe(404)
    expect((await owner.get(`/properties/${id}`)).body)
      .toMatchObject({ status: 'suspended', statusReason: reason })
    expect(await decide(id, { decision: 'approve' })).toMatchObject({
      status: 409,
      body: {
        error: { code: 'status_transition_invalid', from: 'suspended', allowed: ['restore'] },
      },
    })
    expect((await decide(id, { decision: 'restore' })).body).toMatchObject({ status: 'active' })
    expect((await guest.get(`/properties/${id}`)).status).toBe(200)
    expect((await auditOf(admin, id)).map(({ action }) => action))
      .toEqual(['property.restore', 'property.suspend'])
  })

  test('one that waits is listed with what can be decided, and is decided', async () => {
    const owner = await signUp()
    const [one, two, three] = [
      await publishListing(owner),
      await publishListing(owner),
      await publishListing(owner),
    ]
    await database().query(
      `update public.properties set status = 'pending_review', created_at = '2001-01-01'
       where id = any ($1)`,
      [[one.id, two.id]],
    )
    await database().query(
      `update public.properties set pending_changes = '{"price":1}', created_at = '2001-01-02'
       where id = $1`,
      [three.id],
    )
    const waiting = async (query = '') => {
      const { body } = await admin.get(`/admin/moderation?limit=50${query}`)
      const mine = [one.id, two.id, three.id]
      return body.items.filter(({ id }: { id: string }) => mine.includes(id))
    }
    expect((await waiting()).map(({ kind }: { kind: string }) => kind))
      .toEqual(['listing', 'listing', 'changes'])
    expect(await waiting('&kind=changes')).toMatchObject([{
      id: three.id,
      decisions: ['approve', 'reject', 'suspend'],
      changes: { price: 1 },
      listing: { id: three.id, price: 185000 },
    }])
    const first = (await admin.get('/admin/moderation?limit=1')).body
    expect(first.items).toHaveLength(1)
    const second = (await admin.get(`/admin/moderation?limit=1&cursor=${first.nextCursor}`)).body
    expect(second.items[0].id).not.toBe(first.items[0].id)

    expect((await decide(one.id, { decision: 'approve' })).body)
      .toMatchObject({ status: 'active' })
    expect((await decide(two.id, { decision: 'reject', reason })).body)
      .toMatchObject({ status: 'rejected', decisions: ['suspend'] })
    expect((await decide(three.id, { decision: 'approve' })).body)
      .toMatchObject({ status: 'active' })
    expect((await guest.get(`/properties/${three.id}`)).body.price).toBe(1)
    expect(await waiting()).toEqual([])
  })

  test("not one's own, not what is gone, not what is nothing", async () => {
    const { id } = await publishListing(admin)
    expect(await decide(id, { decision: 'suspend', reason }))
      .toMatchObject({ status: 409, body: { error: { code: 'admin_self' } } })
    await admin.delete(`/properties/${id}`)
    for (const one of [id, unknownId]) {
      expect(await decide(one, { decision: 'suspend', reason }))
        .toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
    }
    for (const body of [{}, { decision: 'delete' }, { decision: 'approve', reason: 'x' }]) {
      expect((await decide(unknownId, body)).status, JSON.stringify(body)).toBe(422)
    }
  })
})
