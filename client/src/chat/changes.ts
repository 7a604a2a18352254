// Finds changed conversations by reading the lists of conversations.
import type { Client } from '../client.ts'
import type { Schemas } from '../operations.ts'
import { once } from './link.ts'

const pageSize = 20
const mostPages = 5

/**
 * Returns the conversations from the newest back to `since`; within a page, the oldest comes first. Continues
 * until it has found the change at `changedAt`, which may belong to an older conversation that was read,
 * muted or archived.
 */
export async function changesSince(
  client: Client,
  since: string,
  changedAt: string | null,
): Promise<Schemas['ConversationPage']['items']> {
  const changes: Schemas['ConversationPage']['items'] = []
  for (const archived of [false, true]) {
    let cursor: string | undefined
    for (let pages = 0; pages < mostPages; pages++) {
      const query = { archived, limit: pageSize, cursor }
      const { items, nextCursor } = await client.get('/conversations', { ...once, query })
      changes.push(...[...items].reverse())
      const oldest = items.at(-1)
      const isFound = changes.some((change) => change.changedAt === changedAt)
      if (!nextCursor || !oldest || oldest.updatedAt <= since && isFound) break
      cursor = nextCursor
    }
  }
  return changes
}
