import { afterAll, beforeAll } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { enforceRates } from './rates.ts'

export function withRates(rates: Record<string, number>): void {
  let lift: () => Promise<void>
  beforeAll(async () => {
    lift = await enforceRates(variable('DATABASE_URL')!, rates)
  })
  afterAll(() => lift())
}
