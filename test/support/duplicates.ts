import pg from 'pg'
import { databaseAt } from '../../local/schema/connection.ts'

/**
 * Lets an identity publish the same listing again, as the fixtures of nearly all tests do (tested in
 * test/properties/repeats.alone.test.ts), and returns a function that restores the setting.
 */
export async function allowDuplicates(url: string): Promise<() => Promise<void>> {
  // Each query opens a connection of its own, because an open one would not survive the tests that end
  // the database.
  const ask = async (text: string, values: unknown[] = []) => {
    const client = new pg.Client(databaseAt(url))
    await client.connect()
    await client.query(`set edits.by = 'tests'`)
    return await client.query(text, values).finally(() => client.end())
  }
  const set = (value: unknown) =>
    ask(`update private.settings set value = $1 where name = 'find_duplicates'`, [
      JSON.stringify(value),
    ])
  const { rows: [before] } = await ask(
    `select value from private.settings where name = 'find_duplicates'`,
  )
  await set('off')
  return async () => {
    await set(before.value)
  }
}
