/** The lists of conversations, as far as they have changed. */
import type { Client } from '../client.ts'
import type { Schemas } from '../operations.ts'
import { once } from './link.ts'

const pageSize = 20
const mostPages = 5

/**
 * The conversations that changed since then, those of the first pages at least; of each page the oldest
 * first. Reads on until the change of `changedAt` is found: what was read, muted or archived may be an
 * old one.
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
