import { beforeAll, describe, expect, test } from 'vitest'
import { demote, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, projectUrl, signIn, signUp } from '../support/client.ts'
import { operations, requestWith } from '../support/openapi.ts'
import { insertOrganisation } from '../support/fixtures.ts'
import { waitUntil } from '../support/wait.ts'
import { statusOf } from './requests.ts'
import { edit } from './studio.ts'

let admin: Person
let person: Person

beforeAll(async () => {
  admin = await signUpAdmin()
  person = await signUp()
})

const adminOnly = { status: 403, body: { error: { code: 'admin_only' } } }

describe('ISO-10 admin routes for everybody else', () => {
  const routes = operations.filter(({ path }) => path.startsWith('/admin'))
  const states = () =>
    database().query(
      `select md5(string_agg(accounts::text, ',' order by id)) as hash from public.accounts
       where id = any ($1)`,
      [[person.id, admin.id]],
    ).then(({ rows }) => rows[0].hash)

  test('the routes are those of the contract', () => {
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
      // The route may lack this method or expect another body, so 405 and 422 are acceptable, too.
      expect([403, 405, 422], method).toContain((await person[method](at, body)).status)
    }
    expect(await states()).toBe(before)
  })

  test('HEAD reveals nothing, OPTIONS only lists methods', async () => {
    const url = `${projectUrl}/functions/v1/api/admin/users`
    const headers = { authorization: `Bearer ${person.accessToken}` }
    const head = await fetch(url, { method: 'HEAD', headers })
    expect([head.status, await head.text()]).toEqual([403, ''])
    const options = await fetch(url, { method: 'OPTIONS', headers })
    expect(await options.text()).not.toContain('@')
  })
})

describe('ADM-01 demoted and suspended admins', () => {
  test.each(['demoted', 'suspended', 'banned'])(
    '%s in the middle of their work: they can do nothing more',
    async (how) => {
      const second = await signUpAdmin()
      let done = false
      const seen: number[] = []
      const working = (async () => {
        while (!done) {
          const status = ['suspended', 'active'][seen.length % 2]
          seen.push((await statusOf(second, person.id, { status })).status)
        }
      })()
      await waitUntil('it works', () => seen.includes(200))
      if (how === 'demoted') await demote(second)
      else await edit('accounts', second.id, { status: how })
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
    },
  )
})
