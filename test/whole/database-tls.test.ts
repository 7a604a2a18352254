import { X509Certificate } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectionOf, facadeConnection } from '../../functions/_shared/settings/connection.ts'
import { supabaseRoots } from '../../functions/_shared/settings/supabase-ca.ts'
import { databaseAt } from '../../local/schema/connection.ts'
import { remoteFlag, supabase } from '../../local/schema/cli.ts'
import { authority, type Certificate, certificateFor } from './certificates.ts'
import { defaultSettings, hasStack, startFacade } from '../support/facade.ts'
import { tlsProxy } from './tls-proxy.ts'
import { waitUntil } from '../support/wait.ts'

const [one, other, stranger] = [authority('Root'), authority('Root'), authority('Another')]
const trusted = one.pem + other.pem

const shown: [what: string, certificate: Certificate | undefined, believed: boolean][] = [
  ['a certificate of a root that is trusted', certificateFor('localhost', one), true],
  ['one of another root of the same name', certificateFor('localhost', other), true],
  ['one of a root that is not trusted', certificateFor('localhost', stranger), false],
  ['one that it signed itself', certificateFor('localhost'), false],
  ['one for another host', certificateFor('db.example.com', one), false],
  ['one whose time is over', certificateFor('localhost', one, -1), false],
  ['no TLS at all', undefined, false],
]

describe.runIf(hasStack)('the way to the database', () => {
  let proxy: Awaited<ReturnType<typeof tlsProxy>>

  beforeAll(async () => {
    proxy = await tlsProxy(defaultSettings().FACADE_DB_URL!)
  })
  afterAll(() => proxy.stop())

  async function reaches(url: string) {
    const client = new pg.Client({ ...connectionOf(url, { ca: trusted }) })
    client.on('error', () => {})
    try {
      await client.connect()
      const { rows } = await client.query('select 1 as one')
      return rows[0].one === 1
    } catch {
      return false
    } finally {
      await client.end().catch(() => {})
    }
  }

  test('the functions trust their roots alone, for the host that they asked for', async () => {
    const facade = await startFacade({
      FACADE_DB_URL: proxy.url('localhost', 'sslmode=require'),
      DATABASE_CA: trusted.replaceAll('\n', '\\n'),
    })
    try {
      for (const [what, certificate, believed] of shown) {
        proxy.show(certificate)
        const before = proxy.seen.verified
        const ask = async () => (await fetch(`${facade.url}/meta/areas`)).status
        if (believed) await waitUntil(what, async () => await ask() === 200)
        else expect([await ask(), await ask()], what).toEqual([503, 503])
        expect(proxy.seen.verified > before, what).toBe(believed)
      }
      expect(proxy.seen.inClear).toBe(0)
    } finally {
      await facade.stop()
    }
  })

  test('a refused login is not retried over and over, at which a pooler would close', async () => {
    const url = new URL(proxy.url('localhost', 'sslmode=require'))
    url.password = 'not-the-right-one-9'
    const facade = await startFacade({ FACADE_DB_URL: url.href, DATABASE_CA: trusted })
    try {
      proxy.show(certificateFor('localhost', one))
      const before = proxy.seen.verified
      for (let round = 0; round < 10; round++) {
        const requests = Array.from({ length: 5 }, () => fetch(`${facade.url}/meta/areas`))
        for (const { status } of await Promise.all(requests)) expect(status).toBe(503)
      }
      // Only the requests that were waiting for the first refusal try to log in, and one more connection.
      expect(proxy.seen.verified - before).toBeLessThanOrEqual(6)
    } finally {
      await facade.stop()
    }
  })

  test('everything else that opens a database trusts no more than they do', async () => {
    for (const [what, certificate, believed] of shown) {
      proxy.show(certificate)
      expect(await reaches(proxy.url('localhost', 'sslmode=require')), what).toBe(believed)
    }
    proxy.show(certificateFor('127.0.0.1', one))
    expect(await reaches(proxy.url('127.0.0.1', 'sslmode=verify-full'))).toBe(true)
    expect(await reaches(proxy.url('localhost', 'sslmode=verify-full'))).toBe(false)
    expect(proxy.seen.inClear).toBe(0)
  })

  test('the CLI is configured likewise', async () => {
    process.env.DATABASE_CA = trusted
    try {
      const says = () =>
        supabase(['gen', 'types', remoteFlag(proxy.url('0.0.0.0')), '--schema', 'api'])
      proxy.show(certificateFor('0.0.0.0', stranger))
      expect((await says()).code).not.toBe(0)
      proxy.show(certificateFor('0.0.0.0', one))
      expect(await says()).toMatchObject({ code: 0 })
      expect(proxy.seen.inClear).toBe(0)
    } finally {
      delete process.env.DATABASE_CA
    }
  })

  // The address 0.0.0.0 is also this machine, but TLS is required for it.
  test('any host but this machine is reached by TLS without configuration', async () => {
    for (const query of ['', 'host=127.0.0.1', 'sslrootcert=/nothing', 'sslmode=verify-ca']) {
      proxy.show(undefined)
      expect(await reaches(proxy.url('0.0.0.0', query))).toBe(false)
      proxy.show(certificateFor('0.0.0.0', one))
      expect(await reaches(proxy.url('0.0.0.0', query)), query).toBe(true)
    }
    expect(proxy.seen.inClear).toBe(0)
  })
})

describe('a URL of a database', () => {
  const ref = 'abcdefghijklmnopqrst'
  const project = `https://${ref}.supabase.co`
  const pooler = 'aws-0-eu-central-1.pooler.supabase.com'

  test('cannot change TLS, which is off on this machine alone', () => {
    for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '[::1]']) {
      const url = `postgresql://facade:secret@${host}/postgres`
      expect(connectionOf(url, { production: true }).ssl, host).toBe(false)
      expect(connectionOf(`${url}?sslmode=disable`).ssl).toBe(false)
      expect(connectionOf(`${url}?sslmode=require`).ssl).toEqual({ ca: supabaseRoots })
    }
    for (
      const host of [
        `db.${ref}.supabase.co`,
        pooler,
        'localhost.example.com',
        '127.0.0.1.example.com',
        '10.0.0.1',
        '0.0.0.0',
        '[::2]',
        '[2001:db8::1]',
      ]
    ) {
      const url = `postgresql://facade:secret@${host}/postgres`
      for (const query of ['', '?sslmode=require', '?host=127.0.0.1', '?ssl=true']) {
        const connection = connectionOf(url + query)
        expect(connection, url + query).toMatchObject({ ssl: { ca: supabaseRoots }, port: 5432 })
        expect(`[${connection.host}]`).toContain(host.replace(/[[\]]/g, ''))
      }
    }
  })

  test.each([
    'sslmode=disable',
    'sslmode=no-verify',
    'sslmode=allow',
    'sslmode=prefer',
    'sslmode=',
    'sslmode=Disable',
    'sslmode=require&sslmode=disable',
    'ssl=false',
    'ssl=0',
    'ssl=no-verify',
    'sslmode=verify-full&ssl=0',
  ])('that asks for less is refused: %s', (query) => {
    const near = `postgresql://facade:secret@127.0.0.1/postgres?${query}`
    const far = near.replace('127.0.0.1', pooler)
    for (const given of [() => connectionOf(far), () => connectionOf(near, { production: true })]) {
      expect(given).toThrow('must not ask for a connection that is not verified')
    }
    expect(() => databaseAt(far)).toThrow()
    expect(() => remoteFlag(far)).toThrow()
  })

  test.each([
    '',
    'nothing',
    'http://facade:secret@127.0.0.1',
    'postgresql:///postgres',
    'postgresql://127.0.0.1/postgres',
    'postgresql://facade:%zz@127.0.0.1/postgres',
  ])('that is invalid is refused: %j', (url) => {
    expect(() => connectionOf(url)).toThrow(/^must /)
  })

  test('is decoded into its parts', () => {
    expect(connectionOf('postgres://a%40b:p%2F%3A%25@[::1]:6000/d%20b?host=else')).toEqual({
      host: '::1',
      port: 6000,
      user: 'a@b',
      password: 'p/:%',
      database: 'd b',
      ssl: false,
    })
  })

  test('uses the role of the facade, with the project’s name at the pooler', () => {
    const at = (who: string, where: string) => () =>
      facadeConnection(`postgresql://${who}:secret@${where}/postgres`, project)
    expect(at(`facade.${ref}`, `${pooler}:6543`)()).toMatchObject({
      user: `facade.${ref}`,
      host: pooler,
      ssl: { ca: supabaseRoots },
    })
    expect(at('facade', `db.${ref}.supabase.co:6543`)().user).toBe('facade')
    for (
      const who of ['facade', `postgres.${ref}`, 'facade.tsrqponmlkjihgfedcba', `facade.${ref}x`]
    ) {
      expect(at(who, `${pooler}:6543`), who).toThrow(`must be of the role facade.${ref}.`)
    }
    expect(at(`facade.${ref}`, pooler)).toThrow('must name port 6543')
    for (const who of ['postgres', 'service_role', `facade.${ref}`, 'Facade']) {
      expect(at(who, `db.${ref}.supabase.co:5432`), who).toThrow('must be of the role facade.')
    }
    expect(() =>
      facadeConnection(`postgresql://facade.${ref}:secret@${pooler}:6543/postgres`, 'https://db.kw')
    ).not.toThrow()
  })

  test('is trusted by Supabase’s two roots, which are valid for years to come', () => {
    const roots = supabaseRoots.split(/(?<=-----END CERTIFICATE-----)\s+/)
      .map((pem) => new X509Certificate(pem))
    expect(roots.map(({ fingerprint256 }) => fingerprint256.slice(0, 23))).toEqual([
      '80:70:25:AD:50:D4:ED:21',
      '5F:9B:77:95:1A:7A:A1:30',
    ])
    for (const { subject, ca, validTo } of roots) {
      expect([subject.includes('Supabase Root 2021 CA'), ca]).toEqual([true, true])
      expect(Date.parse(validTo)).toBeGreaterThan(Date.now() + 365 * 86_400_000)
    }
  })
})
