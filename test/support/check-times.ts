/** Changes how often clients check their lists, for one test file of several that share a process. */
import { afterEach, beforeEach } from 'vitest'
import { checkTimes } from '../../client/src/chat/list-check.ts'

export const usualCheckTimes = { ...checkTimes }

/** An interval that is longer than any test. */
export const never = 3_600_000

/** Sets these times before each test of the file, and restores the usual times after it. */
export function withCheckTimes(times: Partial<typeof checkTimes>): void {
  beforeEach(() => void Object.assign(checkTimes, times))
  afterEach(() => void Object.assign(checkTimes, usualCheckTimes))
}
