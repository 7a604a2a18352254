// The factor for limits where things are slowed on purpose (`npm run test:slow`).
import { variable } from '../../local/config/environment.ts'

export const slowness = variable('SLOW') ? 6 : 1
