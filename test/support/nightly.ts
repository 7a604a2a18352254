/**
 * What is bulk, a corpus or thousands of rounds, is whole at night and short in `npm test`
 * (docs/conventions.md, Tests).
 */
import { variable } from '../../local/config/environment.ts'

export const isNightly = variable('NIGHTLY') === '1'

/** So much at night, and so much in `npm test`. */
export const bulk = (atNight: number, otherwise: number): number => isNightly ? atNight : otherwise
