// Database connections for Deno and Node. They use verified TLS; only connections to localhost may be
// unencrypted.
import { certificates, wrongValue } from './setting-kinds.ts'
import { supabaseRoots } from './supabase-ca.ts'

export type Connection = {
  host: string
  port: number
  user: string
  password: string
  database: string
  ssl: false | { ca: string }
}

type Trust = {
  /** The CA certificate of the database, if it is not one of Supabase's. */
  ca?: string
  /** In production, the URL must not weaken TLS, even for localhost. */
  production?: boolean
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/
const verifiedModes = ['require', 'verify-ca', 'verify-full', 'true', '1']

/**
 * An invalid database URL. The message completes a sentence that begins with the setting's name, and contains
 * no part of the URL.
 */
export class UnfitUrl extends Error {}

export function authorities(value = ''): string | undefined {
  const pem = value.replaceAll('\\n', '\n').trim()
  if (!pem) return undefined
  const wrong = wrongValue('DATABASE_CA', certificates, pem)
  if (wrong) throw new Error(`The setting ${wrong}`)
  return pem
}

/**
 * Splits a URL into parts for the driver. Given the whole URL, the driver would let the query string override
 * TLS, host and certificate files. Only `sslmode` and `ssl` are read here, and they can weaken TLS only for
 * localhost in development.
 */
export function connectionOf(url: string, { ca, production = false }: Trust = {}): Connection {
  if (!URL.canParse(url) || !/^postgres(ql)?:\/\//.test(url)) {
    throw new UnfitUrl('must be a URL that begins as postgresql://.')
  }
  const parts = new URL(url)
  const host = decode(parts.hostname).replace(/^\[(.*)\]$/, '$1')
  if (!host || !parts.username) throw new UnfitUrl('must name a host and a role.')
  const modes = ['sslmode', 'ssl'].flatMap((name) => parts.searchParams.getAll(name))
  const isLocal = loopback.test(host)
  const weak = modes.some((mode) => !verifiedModes.includes(mode))
  if (weak && (production || !isLocal)) {
    throw new UnfitUrl('must not ask for a connection that is not verified: leave sslmode out.')
  }
  return {
    host,
    port: Number(parts.port || 5432),
    user: decode(parts.username),
    password: decode(parts.password),
    database: decode(parts.pathname.slice(1)) || 'postgres',
    ssl: isLocal && (weak || !modes.length) ? false : { ca: ca ?? supabaseRoots },
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new UnfitUrl('must be a URL in which every % is followed by two hexadecimal digits.')
  }
}

/**
 * Returns the connection of role `facade`. With the pooler, a replica's name (-rr-…) may follow the role
 * name.
 */
export function facadeConnection(
  url: string,
  supabaseUrl: string,
  trust: Trust = {},
  replica = false,
): Connection {
  const connection = connectionOf(url, trust)
  const { host, port, user } = connection
  const pooler = host.endsWith('.pooler.supabase.com')
  // The pooler chooses the project or the replica by the role name.
  const [ref] = /(?<=^https:\/\/)[a-z0-9]+(?=\.supabase\.co$)/.exec(supabaseUrl) ?? []
  const behind = replica ? '(-rr-[a-z0-9-]+)?' : ''
  const role = pooler ? new RegExp(`^facade\\.${ref ?? '[a-z0-9]+'}${behind}$`) : /^facade$/
  if (!role.test(user)) {
    throw new UnfitUrl(`must be of the role facade${pooler ? `.${ref ?? '<ref>'}` : ''}.`)
  }
  if (pooler && port !== 6543) {
    throw new UnfitUrl('must name port 6543, where the pooler lends connections by transaction.')
  }
  return connection
}
