// Bulk tests, such as a corpus or thousands of rounds, run in full in nightly runs and shortened in
// `npm test` (docs/tests.md).
import { variable } from '../../local/config/environment.ts'

export const isNightly = variable('NIGHTLY') === '1'

export const bulk = (atNight: number, otherwise: number): number => isNightly ? atNight : otherwise
