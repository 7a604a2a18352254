import pg from 'pg'
import { databaseAt } from '../../local/schema/connection.ts'

/**
 * Turns off the detection of duplicate listings, because the fixtures of nearly all tests publish duplicates
 * (test/properties/repeats.alone.test.ts tests it). Returns a function that restores the setting.
 */
export async function allowDuplicates(url: string): Promise<() => Promise<void>> {
  // Opens a connection per query: an open one would break in tests that stop the database.
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
