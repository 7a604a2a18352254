/** The list of conversations, as far as it has changed. */
import type { Client } from '../client.ts'
import type { Schemas } from '../operations.ts'
import { once } from './link.ts'

const pageSize = 20
const mostPages = 5

/** The conversations that changed since then, those of the first page at least; of each page the oldest first. */
export async function changesSince(
  client: Client,
  since: string,
): Promise<Schemas['ConversationPage']['items']> {
  const changes = []
  let cursor: string | undefined
  for (let pages = 0; pages < mostPages; pages++) {
    const query = { limit: pageSize, cursor }
    const { items, nextCursor } = await client.get('/conversations', { ...once, query })
    changes.push(...[...items].reverse())
    const oldest = items.at(-1)
    if (!nextCursor || !oldest || oldest.updatedAt <= since) break
    cursor = nextCursor
  }
  return changes
}
