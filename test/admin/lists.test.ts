import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, guest, newPhone, type Person, signUp } from '../support/client.ts'
import { givePhone, insertOrganisation } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { topUpInvoice } from '../support/money.ts'
import { arabic } from '../support/typed-forms.ts'
import { reason, statusOf } from './requests.ts'

let admin: Person
let person: Person

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

async function pagesOf(path: string) {
  const items = []
  let cursor = ''
  do {
    const { status, body } = await admin.get(`${path}&limit=2${cursor}`)
    expect(status, JSON.stringify(body)).toBe(200)
    items.push(...body.items)
    cursor = body.nextCursor && `&cursor=${body.nextCursor}`
  } while (cursor)
  return items
}

beforeAll(async () => {
  admin = await signUpAdmin()
  person = await signUp()
})

describe('ADM-04 lists', () => {
  test('users are found by email, phone, name, id, status and type', async () => {
    const name = `شيخة ${randomUUID().slice(0, 8)}`
    const made = [await signUp(name), await signUp(name), await signUp(name)]
    const phone = newPhone()
    await givePhone(made[0]!, phone)
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
    const typed = [`+965${phone}`, `00965 ${phone}`, arabic(phone), `\u202D${phone}\u202C`]
    for (const q of [phone, ...typed]) {
      expect(await found({ q })).toContain(made[0]!.id)
      // If a text occurs in more than 2,000 accounts, the search calls this function for
      // one account after another.
      const { rows } = await database().query(
        'select private.matches_user(accounts, private.typed($2)) as matches from public.accounts where id = $1',
        [made[0]!.id, q],
      )
      expect(rows).toEqual([{ matches: true }])
    }
    expect(await found({ q: made[2]!.id })).toEqual([made[2]!.id])
    expect(await found({ q: made[2]!.identityId })).toEqual([made[2]!.id])
    const { refNo } = await publishListing(made[2]!)
    for (const q of [refNo, refNo.toLowerCase(), arabic(refNo)]) {
      expect(await found({ q })).toEqual([made[2]!.id])
    }
    const { number } = await topUpInvoice(made[1]!)
    expect(await found({ q: number.toLowerCase() })).toEqual([made[1]!.id])

    await statusOf(admin, made[1]!.id, { status: 'suspended' })
    expect(await found({ q: name, status: 'suspended' })).toEqual([made[1]!.id])
    await insertOrganisation(made[2]!.id, 'office')
    expect(await found({ q: name, type: 'office' })).toEqual([made[2]!.id])
    expect(await found({ q: name, type: 'company' })).toEqual([])
    expect(await found({ q: name, identityStatus: 'active' })).toEqual(all)
    expect(await found({ q: name, identityStatus: 'pending_verification' })).toEqual([])
    expect(await found({ q: name, type: 'office', identityStatus: 'active' })).toEqual([
      made[2]!.id,
    ])
    expect(await found({ q: name, type: 'office', identityStatus: 'suspended' })).toEqual([])
    expect(await found({ q: name, isAdmin: 'true' })).toEqual([])
    expect(await found({ q: name, isAdmin: 'false' })).toEqual(all)
    expect(await found({ q: admin.id, isAdmin: 'true' })).toEqual([admin.id])
    expect(await found({ q: name, since: inAnHour() })).toEqual([])
    expect(await found({ q: name, until: inAnHour() })).toEqual(all)

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

  test('users are sorted by time or name, and pages of each sort are consecutive', async () => {
    const family = `الراشد ${randomUUID().slice(0, 8)}`
    const given = ['جاسم', 'بدر', 'آدم', 'داود', 'أحمد', 'ابراهيم علي', 'بدر', 'إبراهيم', 'إيمان']
    const names = given.map((name) => `${name} ${family}`)
    const ids: string[] = []
    for (const name of names) ids.push((await signUp(name)).id)
    const path = `/admin/users?q=${encodeURIComponent(family)}`
    const sorted = async (sort: string) =>
      (await pagesOf(`${path}&sort=${sort}`)).map(({ id }) => id)
    expect(await sorted('oldest')).toEqual(ids)
    expect(await sorted('newest')).toEqual(ids.toReversed())
    const byName = await pagesOf(`${path}&sort=name`)
    expect(byName.map(({ id }) => id).sort()).toEqual(ids.toSorted())
    // All forms of alef sort as one letter.
    const inOrder = [7, 5, 4, 2, 8, 1, 6, 0, 3].map((n) => names[n])
    expect(byName.map(({ fullName }) => fullName)).toEqual(inOrder)
    const backwards = await pagesOf(`${path}&sort=-name`)
    expect(backwards.map(({ fullName }) => fullName)).toEqual(inOrder.toReversed())
    const { body } = await admin.get(`${path}&sort=name&limit=2`)
    expect((await admin.get(`${path}&sort=oldest&limit=2&cursor=${body.nextCursor}`)).body.error)
      .toMatchObject({ code: 'cursor_invalid' })
  })

  test('a name shared by thousands is searched page by page, each found once', async () => {
    const name = `ترف ${newPhone()}`
    const people = await Promise.all([name, `${name} الثاني`, 'غيرها'].map((one) => signUp(one)))
    const ids = people.map(({ id }) => id)
    for (
      const q of [name, name.slice(2), people[2]!.identifier, people[2]!.identifier.slice(3, 30)]
    ) {
      const { body } = await admin.get(`/admin/users?${new URLSearchParams({ q, limit: '50' })}`)
      const { rows } = await database().query(
        `select id from public.accounts
         where id = any ($1) and private.matches_user(accounts, private.tidy($2, 120, 'q'))`,
        [ids, q],
      )
      const listed = body.items.map(({ id }: { id: string }) => id)
      expect(rows.map(({ id }) => id).sort(), q)
        .toEqual(ids.filter((id) => listed.includes(id)).sort())
      expect(rows.length, q).toBeGreaterThan(0)
    }
  })

  test('INP-03 search text is text: never a pattern, a query or a filter', async () => {
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
    for (const q of ['\u200f\u200e\u200f', 'َُِ', 'ـــ']) {
      const { body } = await admin.get(`/admin/users?${new URLSearchParams({ q })}`)
      expect(body.items, q).not.toEqual([])
    }
    const queries = [
      'q=a',
      'q=ab',
      'q=',
      'status=gone',
      'type=person',
      'identityStatus=gone',
      'isAdmin=yes',
      'since=yesterday',
      'limit=51',
      'sort=x',
    ]
    for (const query of queries) {
      expect((await admin.get(`/admin/users?${query}`)).status, query).toBe(422)
    }
    for (const list of ['moderation', 'audit', 'payments/events']) {
      for (const query of ['sort=x', 'since=yesterday', 'kind=odd', 'other=1']) {
        expect((await admin.get(`/admin/${list}?${query}`)).status, `${list} ${query}`).toBe(422)
      }
    }
  })

  test('no list or page contains a password, code, token or key, nor the decoy account', async () => {
    // A sign-in with an unknown identifier creates the decoy account if it does not exist yet.
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

  test('the audit trail is filtered by actor, action, target and time', async () => {
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
    expect(await entries({ since: new Date(Date.now() + 3_600_000).toISOString() })).toEqual([])
    expect(await entries({ until: new Date(Date.now() - 3_600_000).toISOString() })).toEqual([])
    const first = (await admin.get(`/admin/audit?actorId=${second.id}&limit=2`)).body
    const rest = (await admin.get(
      `/admin/audit?actorId=${second.id}&limit=2&cursor=${first.nextCursor}`,
    )).body
    expect([...first.items, ...rest.items].map(({ after }) => after.status))
      .toEqual(['banned', 'active', 'suspended'])
    expect(rest.nextCursor).toBe(null)
    expect((await pagesOf(`/admin/audit?actorId=${second.id}&sort=oldest`))
      .map(({ after }) => after.status)).toEqual(['suspended', 'active', 'banned'])
  })
})
