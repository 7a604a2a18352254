// Rows of admin_acts that name an administrator; last-admin.alone.test.ts tests rows without a name.
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, makeAdmin, signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { signUpByPhone } from '../support/codes.ts'
import { insertListing } from '../support/fixtures.ts'
import { act, byHand, decide, why } from './studio.ts'

describe('ADM-18 by', () => {
  let reader: Person
  beforeAll(async () => {
    reader = await signUpAdmin()
  })

  test('is found as everybody is, kept as an id, and said beside the login', async () => {
    const admin = await makeAdmin(await signUpByPhone())
    const local = admin.identifier.slice(-8)
    const forms = [
      local,
      `+965 ${local}`,
      local.replace(/\d/g, (digit) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)]!),
      admin.id.toUpperCase(),
      ` ${admin.identityId} `,
    ]
    for (const by of forms) {
      const person = await signUp()
      const row = await act({ act: 'suspend_account', by, target: person.id, reason: why })
      expect(row.by, by).toBe(admin.id)
      expect(await auditOf(reader, person.id)).toMatchObject([
        { actor: null, actorRole: 'postgres', said: { id: admin.id }, after: { act: row.id } },
      ])
    }
  })

  test('stands in every entry of one act, and in none after it', async () => {
    const admin = await signUpAdmin('دانة الرشيد')
    const seller = await signUp()
    const listing = await insertListing(seller.identityId)
    const reported = await (await signUp()).post('/reports', {
      targetType: 'property',
      targetId: listing,
      reason: 'fraud',
    })
    const said = { id: admin.id, fullName: 'دانة الرشيد' }
    await act({ act: 'uphold', by: admin.id, target: reported.body.id, reason: why })
    expect(await auditOf(reader, reported.body.id)).toMatchObject([{ said }])
    expect(await auditOf(reader, listing)).toMatchObject([{ said }])
    // One transaction writes both audit entries, as a script might.
    await byHand(
      `with acted as (
         insert into public.admin_acts (act, "by", target, reason)
         values ('suspend_account', '${admin.id}', '${seller.id}', 'سبب') returning id
       )
       select private.audit('planted.after', 'account', '${seller.id}') from acted`,
    )
    expect(await auditOf(reader, seller.id)).toMatchObject([
      { action: 'planted.after', said: null },
      { action: 'account.status', said },
    ])
  })

  test('and who signed in, by the name of the time, outlives the account', async () => {
    const admin = await signUpAdmin('نوف العجمي')
    const [byRoute, byRow] = await Promise.all([signUp(), signUp()])
    const suspended = await admin.patch(`/admin/users/${byRoute.id}/status`, {
      status: 'suspended',
      reason: why,
    })
    expect(suspended.status).toBe(200)
    await act({ act: 'suspend_account', by: admin.id, target: byRow.id, reason: why })
    await byHand(
      `update public.individual_profiles set full_name = 'نوف المطيري' where account_id = $1`,
      [
        admin.id,
      ],
    )
    await act({ act: 'delete_account', target: admin.id, reason: why })
    expect((await reader.get(`/admin/users/${admin.id}`)).body.user.fullName).toBe(null)
    const known = { id: admin.id, fullName: 'نوف العجمي' }
    expect(await auditOf(reader, byRoute.id)).toMatchObject([{ actor: known, said: null }])
    expect(await auditOf(reader, byRow.id)).toMatchObject([{ actor: null, said: known }])
    const { rows } = await database().query(
      `select actor, said from public.admin_audit where target_id = any ($1) order by actor`,
      [[byRoute.id, byRow.id]],
    )
    expect(rows).toEqual(expect.arrayContaining([
      { actor: 'نوف العجمي', said: null },
      { actor: 'postgres', said: 'نوف العجمي' },
    ]))
    await expect(act({ act: 'activate_account', by: admin.id, target: byRow.id, reason: why }))
      .rejects.toThrow('is none')
  })

  test('an entry keeps to what a token proved, whatever a caller sends', async () => {
    const admin = await signUpAdmin()
    const listing = await insertListing((await signUp()).identityId)
    expect((await decide(admin, listing, 'suspend')).status).toBe(200)
    expect(await auditOf(reader, listing)).toMatchObject([{ actor: { id: admin.id }, said: null }])
  })
})
