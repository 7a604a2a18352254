import { badRequest } from './errors.ts'

const units: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 }

/**
 * Returns the end of a ban, given its duration in Go's format ("24h", "1h30m"). "none" lifts the ban (null);
 * without a duration the ban stays unchanged (undefined).
 */
export function banUntil(duration: string | undefined): string | null | undefined {
  if (!duration) return undefined
  if (duration === 'none') return null
  if (!/^(\d+(\.\d+)?(ms|h|m|s))+$/.test(duration)) {
    throw badRequest(`invalid format for ban duration: time: invalid duration "${duration}"`)
  }
  let length = 0
  for (const [, amount, unit] of duration.matchAll(/([\d.]+)(ms|h|m|s)/g)) {
    length += Number(amount) * units[unit!]!
  }
  return new Date(Date.now() + length).toISOString()
}
