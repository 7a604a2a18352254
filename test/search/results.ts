import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Reply } from '../support/client.ts'
import { waitFor } from '../support/wait.ts'

export const ids = ({ body }: Reply): string[] => body.items.map(({ id }: { id: string }) => id)

/** Returns the exact matches, without the similar listings that follow. */
export const fits = (page: Reply) => ids(page).slice(0, page.body.similarFrom ?? undefined)

/** Returns a word of letters and digits that no other listing has. */
export const uniqueWord = () => `x${randomUUID().replaceAll('-', '')}`

/** Repeats the request until it has a count, because a busy machine may not count in time. */
export const known = (ask: () => Promise<Reply>) =>
  waitFor('a count', async () => {
    const { status, body } = await ask()
    if (status !== 200 || body.count !== null) return body
    expect(body).toEqual({ count: null, capped: true })
  })
