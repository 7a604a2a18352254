/** The intervals of clients' own checks, which a file may change although it shares a process with others. */
import { afterEach, beforeEach } from 'vitest'
import { checkTimes } from '../../client/src/chat/list-check.ts'

export const usualCheckTimes = { ...checkTimes }

/** So seldom that it does not happen in a test. */
export const never = 3_600_000

/** Each test begins with these times, and with the usual ones for the rest. */
export function withCheckTimes(times: Partial<typeof checkTimes>): void {
  beforeEach(() => void Object.assign(checkTimes, times))
  afterEach(() => void Object.assign(checkTimes, usualCheckTimes))
}
