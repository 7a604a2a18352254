/** How many broadcasts each act costs, counted where Realtime takes them from. */
import pg from 'pg'
import type { Stack } from '../test/support/stack.ts'
import type { Person } from './chat-transports.ts'

export type Broadcasts = Record<'a message' | 'a read' | 'a block' | 'a sign-out', number>

const conversations = 60

/** By people of whom the first gets a conversation with sixty others. */
export async function broadcasts(
  { baseUrl, databaseUrl }: Stack,
  people: Person[],
): Promise<Broadcasts> {
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  const post = async ({ token }: Person, path: string, body: unknown = {}) => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return response.status === 204 ? undefined : await response.json()
  }
  // What jobs tell meanwhile is no part of an act.
  const sent = async (): Promise<number> => {
    const { rows } = await database.query(
      `select count(*)::int from realtime.messages where event <> 'notification'
       or payload -> 'notification' ->> 'kind' = 'message_new'`,
    )
    return rows[0].count
  }
  const cost = async (act: () => Promise<unknown>) => {
    const before = await sent()
    await act()
    return await sent() - before
  }

  const [one, ...others] = people.slice(0, conversations + 1) as [Person, ...Person[]]
  let last = ''
  for (const { identityId } of others) {
    last = (await post(one, '/conversations', { identityId })).id
  }
  const other = others.at(-1)!
  const message = { clientMessageId: crypto.randomUUID(), type: 'text', body: 'السلام عليكم' }
  const counted = {
    'a message': await cost(() => post(one, `/conversations/${last}/messages`, message)),
    'a read': await cost(() => post(other, `/conversations/${last}/read`)),
    'a block': await cost(() => post(one, `/blocks/${other.identityId}`)),
    'a sign-out': await cost(() => post(one, '/auth/logout')),
  }
  await database.end()
  return counted
}
