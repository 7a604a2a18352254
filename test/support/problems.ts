import { expect } from 'vitest'
import type { Reply } from './client.ts'

export const refusal = (status: number, code: string) => ({ status, body: { error: { code } } })

export const fieldRefusal = (status: number, code: string, path: string) => ({
  status,
  body: { error: { code, fields: [{ path, message: expect.any(String) }] } },
})

export function problemOf({ status, body }: Reply) {
  const { requestId, ...error } = body.error
  expect(requestId).toBeTruthy()
  return { status, error }
}

export const statusAndCode = ({ status, body }: Reply) => [status, body.error?.code]

export const unknownId = '00000000-0000-4000-8000-000000000000'
