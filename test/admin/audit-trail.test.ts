import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { publishListing } from '../support/listings.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

describe('the audit trail', () => {
  test.each(['update public.audit set reason = null', 'delete from public.audit'])(
    'nobody, not even its owner, can: %s',
    async (sql) => {
      await expect(database().query(sql)).rejects.toMatchObject({ code: '42501' })
      await expect(database().query(`${sql} where id = 1`)).rejects.toMatchObject({ code: '42501' })
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

  test("people's changes to what is theirs, and thousands by jobs, are not in it", async () => {
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
      await client.query(`begin; set local edits.by = ''`)
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
