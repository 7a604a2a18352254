import { expect } from 'vitest'
import { guest, type Reply } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'

export function expectUnavailable({ status, body, headers }: Reply, what = '') {
  const said = `${what} ${JSON.stringify(body)}`
  expect([status, body.error?.code], said).toEqual([503, 'service_unavailable'])
  expect(body.error.retryAfter).toBeGreaterThan(0)
  expect(headers.get('retry-after')).toBe(String(body.error.retryAfter))
}

export const untilHealth = (
  status: string,
  database: string,
  from: { get: (path: string) => Promise<Reply> } = guest,
) =>
  waitUntil(`health says ${status}, ${database}`, async () => {
    const { body } = await from.get('/health')
    return body.status === status && body.database === database
  })
