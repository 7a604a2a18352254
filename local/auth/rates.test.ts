import { expect, test } from 'vitest'
import { openRates } from './rates.ts'

test('requests from many addresses do not reset the limit of one', () => {
  const limit = openRates(true)
  const verify = (address: string) => limit('POST', '/verify', address)
  for (let n = 0; n < 30; n++) verify('203.0.113.1')
  expect(() => verify('203.0.113.1')).toThrow('Request rate limit reached')
  for (let n = 0; n < 10_001; n++) verify(`10.0.${n >> 8}.${n & 255}`)
  expect(() => verify('203.0.113.1')).toThrow('Request rate limit reached')
})
