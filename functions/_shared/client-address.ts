/** The client's address, from the one header and entry that our own proxies wrote. */
import { env } from './env.ts'

/** The entry of X-Forwarded-For counted from the right (CLIENT_IP_HOPS); IPv6 by /64. */
export function clientAddress(forwardedFor = ''): string {
  // No address is longer, and to look for one in many digits is quadratic.
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
