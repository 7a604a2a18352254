// Determines the client address from the entry of X-Forwarded-For that our own proxies added.
import { env } from '../settings/env.ts'

/**
 * Returns entry number CLIENT_IP_HOPS of X-Forwarded-For, counted from the right. An IPv6 address becomes its
 * /64 prefix.
 */
export function clientAddress(forwardedFor = ''): string {
  // Addresses have at most 60 characters. The limit matters because the regular expression takes quadratic
  // time on long runs of digits.
  const given = forwardedFor.split(',').at(-env.clientIpHops)?.trim().slice(-60) ?? ''
  const entry = /(\d+\.\d+\.\d+\.\d+)(:\d+)?$/.exec(given)?.[1] ?? given.toLowerCase()
  if (!entry.includes(':')) return entry || 'unknown'
  const [head, tail = ''] = entry.replace(/^\[|\]$/g, '').split('::')
  const left = head ? head.split(':') : []
  const right = tail ? tail.split(':') : []
  const groups = entry.includes('::')
    ? [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
    : left
  return `${groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '')).join(':')}::/64`
}
