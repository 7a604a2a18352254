// The factor for limits where things are slowed on purpose (`npm run test:slow`).
import { variable } from '../../local/config/environment.ts'

export const slowness = variable('SLOW') ? 6 : 1

/** The time limits of stacks that tests start are so many times as long, but for tests of the limits. */
export const patience = variable('TIMES') === 'exact' ? '1' : String(10 * slowness)
