import { randomUUID } from 'node:crypto'
import type { Reply } from '../support/client.ts'

export const ids = ({ body }: Reply): string[] => body.items.map(({ id }: { id: string }) => id)

/** Returns a word of letters and digits that no other listing has. */
export const uniqueWord = () => `x${randomUUID().replaceAll('-', '')}`
