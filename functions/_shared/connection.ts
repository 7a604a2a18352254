/**
 * How a database is reached, by everything here that opens a connection, in Deno and in Node: from
 * elsewhere by TLS that proves who answers, in clear on this machine alone.
 */
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
  /** Certificates of who vouches for the database, where that is not Supabase. */
  ca?: string
  /** Nothing may be asked for there that could weaken the connection, not even on this machine. */
  production?: boolean
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/
const verified = ['require', 'verify-ca', 'verify-full', 'true', '1']

/** What is wrong with a URL of a database; the text begins behind its name and holds none of it. */
export class UnfitUrl extends Error {}

/** What DATABASE_CA says: certificates in PEM, as one line too, with its breaks written as \n. */
export function authorities(value = ''): string | undefined {
  const pem = value.replaceAll('\\n', '\n').trim()
  if (!pem) return undefined
  if (!pem.startsWith('-----BEGIN CERTIFICATE-----')) {
    throw new Error('The setting DATABASE_CA must be certificates in PEM.')
  }
  return pem
}

/**
 * The parts of a URL, for the driver: given the URL itself, it would let the query decide about TLS,
 * host and files. Of the query only `sslmode` and `ssl` are read, and they cannot weaken anything.
 */
export function connectionOf(url: string, { ca, production = false }: Trust = {}): Connection {
  if (!URL.canParse(url) || !/^postgres(ql)?:\/\//.test(url)) {
    throw new UnfitUrl('must be a URL that begins as postgresql://.')
  }
  const parts = new URL(url)
  const host = decoded(parts.hostname).replace(/^\[(.*)\]$/, '$1')
  if (!host || !parts.username) throw new UnfitUrl('must name a host and a role.')
  const asked = ['sslmode', 'ssl'].flatMap((name) => parts.searchParams.getAll(name))
  const near = loopback.test(host)
  const weak = asked.some((word) => !verified.includes(word))
  if (weak && (production || !near)) {
    throw new UnfitUrl('must not ask for a connection that is not verified: leave sslmode out.')
  }
  return {
    host,
    port: Number(parts.port || 5432),
    user: decoded(parts.username),
    password: decoded(parts.password),
    database: decoded(parts.pathname.slice(1)) || 'postgres',
    ssl: near && (weak || !asked.length) ? false : { ca: ca ?? supabaseRoots },
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new UnfitUrl('must be a URL in which every % is followed by two hexadecimal digits.')
  }
}

/** The connection of the functions: as role facade, on hosted projects by the transaction pooler. */
export function facadeConnection(url: string, supabaseUrl: string, trust?: Trust): Connection {
  const connection = connectionOf(url, trust)
  const { host, port, user } = connection
  const pooler = host.endsWith('.pooler.supabase.com')
  // A pooler tells projects apart by the name of the role.
  const [ref] = /(?<=^https:\/\/)[a-z0-9]+(?=\.supabase\.co$)/.exec(supabaseUrl) ?? []
  const role = pooler ? new RegExp(`^facade\\.${ref ?? '[a-z0-9]+'}$`) : /^facade$/
  if (!role.test(user)) {
    throw new UnfitUrl(`must be of the role facade${pooler ? `.${ref ?? '<ref>'}` : ''}.`)
  }
  if (pooler && port !== 6543) {
    throw new UnfitUrl('must name port 6543, where the pooler lends connections by transaction.')
  }
  return connection
}
