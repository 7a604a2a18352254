/** Counts how many broadcasts each action writes to the table that Realtime reads. */
import pg from 'pg'
import type { Stack } from '../test/support/stack.ts'
import { post } from './client.ts'
import type { Person } from './chat-transports.ts'

export type Broadcasts = Record<'a message' | 'a read' | 'a block' | 'a sign-out', number>

const conversations = 60

/** Performs the actions as `people` and counts. The first person gets a conversation with sixty others. */
export async function broadcasts(
  stack: Stack,
  people: Person[],
): Promise<Broadcasts> {
  const database = new pg.Client({ connectionString: stack.databaseUrl })
  await database.connect()
  // Notifications that jobs send in the meantime are not counted.
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
    last = (await post(stack, '/conversations', { identityId }, one.token)).id
  }
  const other = others.at(-1)!
  const message = { clientMessageId: crypto.randomUUID(), type: 'text', body: 'السلام عليكم' }
  const counted = {
    'a message': await cost(() =>
      post(stack, `/conversations/${last}/messages`, message, one.token)
    ),
    'a read': await cost(() => post(stack, `/conversations/${last}/read`, {}, other.token)),
    'a block': await cost(() => post(stack, `/blocks/${other.identityId}`, {}, one.token)),
    'a sign-out': await cost(() => post(stack, '/auth/logout', {}, one.token)),
  }
  await database.end()
  return counted
}
