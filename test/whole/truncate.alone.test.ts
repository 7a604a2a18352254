// TRUNCATE locks a table and all tables that refer to it, even if it is then refused, so the test runs alone.
import { expect, test } from 'vitest'
import { byHand } from '../admin/studio.ts'
import { database } from '../support/client.ts'

test('ADM-05 no table is emptied by hand: each refuses with a sentence', async () => {
  const { rows } = await database().query(
    `select format('%I.%I', relnamespace::regnamespace, relname) as name from pg_class
     where relkind in ('r', 'p') and not relispartition
       and relnamespace in ('public'::regnamespace, 'private'::regnamespace)`,
  )
  expect(rows.length).toBeGreaterThan(70)
  for (const { name } of rows) {
    await expect(byHand(`truncate ${name} cascade`), name).rejects
      .toMatchObject({ message: expect.stringMatching(/^[A-Z].{40,}\.$/s) })
  }
})

// WAL-04: even roles to which Studio's refusals do not apply cannot empty these tables.
test.each([
  'public.audit',
  'public.wallet_entries',
  'public.wallet_entries, public.wallet_transfers, public.wallets cascade',
])('no role empties %s', async (tables) => {
  for (const role of ['anon', 'authenticated', 'service_role', 'postgres']) {
    const client = await database().connect()
    try {
      await client.query(`begin; set local role ${role}`)
      await expect(client.query(`truncate ${tables}`), role).rejects
        .toMatchObject({ code: expect.stringMatching(/^(42501|PT4\d\d)$/) })
    } finally {
      await client.query('rollback')
      client.release()
    }
  }
})
