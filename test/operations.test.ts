import { expect, test } from 'vitest'
import { faultsOf } from './answers.ts'
import { guest } from './client.ts'
import { operations } from './openapi.ts'

test('an answer that is not as described is found', async () => {
  const reply = await guest.get('/health')
  expect(faultsOf('GET', '/health', reply)).toEqual([])
  expect(faultsOf('GET', '/health', { ...reply, status: 418 })).not.toEqual([])
  const more = { ...reply.body, more: 1 }
  expect(faultsOf('GET', '/health', { ...reply, body: more })).not.toEqual([])
  expect(faultsOf('GET', '/errors', reply)).not.toEqual([])
})

test('every operation has a name of its own', () => {
  const names = operations.map(({ id }) => id)
  expect(names.length).toBeGreaterThan(20)
  expect(new Set(names).size).toBe(names.length)
})
