import { expect } from 'vitest'
import { database, signUp } from '../../test/support/client.ts'
import { conversationBetween, postMessage } from '../../test/support/conversations.ts'
import { testLocally } from '../../test/support/facade.ts'
import { insertOrganisation } from '../../test/support/fixtures.ts'
import { publishListing } from '../../test/support/listings.ts'
import { topUp } from '../../test/support/money.ts'
import { askRows, tables } from './support/studio-rows.ts'

const textOf = (value: unknown) => typeof value === 'object' ? JSON.stringify(value) : String(value)

async function useTheMarketplace() {
  const [seller, buyer] = await Promise.all([signUp(), signUp()])
  const { id } = await publishListing(seller)
  await insertOrganisation(seller.id)
  const actions = [
    await buyer.post(`/favorites/${id}`),
    await buyer.post('/conversations', { propertyId: id, message: 'مرحبا' }),
    await buyer.post('/reports', { targetType: 'property', targetId: id, reason: 'fraud' }),
    await buyer.patch('/settings', { marketingConsent: true }),
  ]
  for (const { status, body } of actions) expect(status, JSON.stringify(body)).toBeLessThan(300)
  await postMessage(buyer, await conversationBetween(buyer, seller))
  await topUp(buyer)
}

// A rejected edit gets status 400 and a sentence that explains what to do instead.
const aSentence = /^400 [A-Z].{20,}\.$/s

/** Converts a timestamp in Postgres's format to ISO 8601; other values are returned unchanged. */
const withoutFormat = (value: unknown) =>
  typeof value === 'string' ? value.replace(/^(\d{4}-\d\d-\d\d) (.+\+00)$/, '$1T$2:00') : value

testLocally('a row of every table is edited by its key, or the edit is refused', async () => {
  await useTheMarketplace()
  const found = (await tables()).filter(({ schema }) => ['public', 'private'].includes(schema))
  const edited: string[] = []
  const refused: Record<string, string> = {}
  const waiting = found.filter(({ key }) => key.length > 0)
  for (const table of waiting) {
    const name = `${table.schema}.${table.name}`
    const order = table.key.join(',')
    const { status, body: [row] } = await askRows('GET', table, `select=*&limit=1&order=${order}`)
    expect(status, name).toBe(200)
    if (!row) continue
    const key = new URLSearchParams(
      table.key.map((column) => [column, `eq.${textOf(row[column])}`]),
    )
    const written = async () => {
      const { rows } = await database().query(
        `select xmin::text from ${name} where (${table.key})::text = (
           select (${table.key})::text from jsonb_populate_record(null::${name}, $1))`,
        [row],
      )
      return rows
    }
    // Writes the existing value again, because this test is not about the effect of a change.
    const plain = table.columns.find((column) =>
      !column.generated && !table.key.includes(column.name) &&
      /^(text|boolean|integer|smallint)$/.test(column.type)
    )
    const column = plain ?? table.columns.findLast(({ generated }) => !generated)!
    const before = await written()
    const answer = await askRows('PATCH', table, key.toString(), {
      [column.name]: row[column.name],
    })
    const after = await written()
    if (!before.length || !after.length) {
      waiting.push(table) // A job has deleted the row in the meantime.
      continue
    }
    expect(before, name).toHaveLength(1)
    if (answer.status === 200) {
      const keyOf = (one: typeof row) => table.key.map((part) => withoutFormat(one[part]))
      expect(answer.body.map(keyOf), name).toEqual([keyOf(row)])
      expect(after, `${name}.${column.name}`).not.toEqual(before)
      edited.push(name)
    } else {
      expect(after, name).toEqual(before)
      refused[name] = `${answer.status} ${answer.body?.message}`
    }
  }
  expect(edited).toEqual(expect.arrayContaining([
    'private.rates',
    'private.settings',
    'public.accounts',
    'public.areas',
    'public.invoices',
    'public.organisations',
    'public.plans',
    'public.properties',
    'public.reports',
    'public.vocabularies',
  ]))
  for (const [name, why] of Object.entries(refused)) expect(why, name).toMatch(aSentence)
})

testLocally('every table has a key, so that each of its rows can be edited', async () => {
  const { rows } = await database().query(
    `select schemaname || '.' || tablename as name from pg_tables
     where schemaname in ('public', 'private')`,
  )
  const keyed = (await tables()).filter(({ key }) => key.length > 0)
    .map(({ schema, name }) => `${schema}.${name}`)
  expect(keyed).toEqual(expect.arrayContaining(rows.map(({ name }) => name)))
})
