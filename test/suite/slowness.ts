// The factor for limits in a run that is slowed on purpose (`npm run test:slow`).
import { variable } from '../../local/config/environment.ts'

export const slowness = variable('SLOW') ? 6 : 1

/** The factor for the time limits of the tests' own stacks; 1 where the limits are tested (TIMES=exact). */
export const patience = variable('TIMES') === 'exact' ? '1' : String(10 * slowness)
