/** Refusals: what a test expects of one, and what one says. */
import { expect } from 'vitest'
import type { Reply } from './client.ts'

/** Matches a refusal with this status and code. */
export const refusal = (status: number, code: string) => ({ status, body: { error: { code } } })

/** Matches a refusal of one field, with a message beside it. */
export const fieldRefusal = (status: number, code: string, path: string) => ({
  status,
  body: { error: { code, fields: [{ path, message: expect.any(String) }] } },
})

/** A refusal without what differs from request to request. */
export function problemOf({ status, body }: Reply) {
  const { requestId, ...error } = body.error
  expect(requestId).toBeTruthy()
  return { status, error }
}

export const statusAndCode = ({ status, body }: Reply) => [status, body.error?.code]

/** An id that nothing has. */
export const unknownId = '00000000-0000-4000-8000-000000000000'
