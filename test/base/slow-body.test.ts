import { expect, test } from 'vitest'
import { requestHead, sendBytes } from '../support/raw-http.ts'

test('a body that does not come is given up after 30 s', async () => {
  const opening = requestHead(
    'POST',
    '/auth/login',
    'Content-Type: application/json',
    'Content-Length: 100',
    'Connection: close',
  )
  const got = await sendBytes(`${opening}{"identifier":`)
  expect(got).toMatch(/^HTTP\/1\.1 408 /)
  expect(got).toContain('"code":"upload_timeout"')
})
