// Reads the client's address from the header entry that our own proxies wrote.
import { env } from '../settings/env.ts'

/** Returns the entry of X-Forwarded-For at position CLIENT_IP_HOPS from the right. IPv6 becomes its /64. */
export function clientAddress(forwardedFor = ''): string {
  // An address is never longer than 60 characters, and the search takes quadratic time on many digits.
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
