/** Emptying a table locks it and all that follow it before anything is refused: alone. */
import { expect, test } from 'vitest'
import { database } from '../support/client.ts'
import { byHand } from './studio.ts'

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
