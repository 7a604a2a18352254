// Requests of guests read from a real replica of the stack's database. The tests reach the primary and the
// replica through proxies that record the queries.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { passwordOf, secretsOf } from '../../local/config/secrets.ts'
import { superuser } from '../../local/postgres/cluster.ts'
import { startReplica } from '../../local/postgres/replica.ts'
import { onTemporaryServer } from '../../local/schema/temporary-server.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { startCountingProxy } from '../support/counting-proxy.ts'
import { freePorts } from '../../local/config/ports.ts'
import { defaultSettings, type Facade, hasStack, startFacade } from '../support/facade.ts'
import { moduleOf, runFacadeCode } from '../support/facade-code.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { waitUntil } from '../support/wait.ts'
import { forget, unsettled } from './facade-requests.ts'

type Proxy = Awaited<ReturnType<typeof startCountingProxy>>

const urlAt = (url: string, port: number) => {
  const moved = new URL(url)
  moved.port = String(port)
  return moved.href
}

/** Sets the heartbeat on the primary to this many seconds ago. */
const beat = (secondsAgo = 0) =>
  database().query(
    `insert into private.timestamps (name, at) values ('beat', clock_timestamp() - make_interval(secs => $1))
     on conflict (name) do update set at = excluded.at`,
    [secondsAgo],
  )

// In a stack with its own replicas, the stack updates the heartbeat itself.
const beatsByHand = hasStack && variable('REPLICAS') === '0'

describe.runIf(beatsByHand)('CRASH-11 a read replica', () => {
  let replica: Awaited<ReturnType<typeof startReplica>>
  let onReplica: pg.Client
  let port: number
  let primary: Proxy
  let near: Proxy
  let facade: Facade
  let owner: Person
  let listing: string
  let clock: NodeJS.Timeout | undefined

  async function start() {
    replica = await startReplica({
      dataDir: variable('LOCAL_STACK')!,
      primaryPort: Number(new URL(variable('DATABASE_URL')!).port),
      port,
      name: 'own_replica',
    })
    const password = passwordOf(secretsOf(variable('LOCAL_STACK')!), superuser)
    onReplica = new pg.Client(
      `postgresql://${superuser}:${password}@127.0.0.1:${port}/postgres`,
    )
    onReplica.on('error', () => {})
    await onReplica.connect()
  }

  async function startAnew() {
    await onReplica.end()
    await replica.stop()
    await start()
    await untilItAnswers()
  }

  async function beats(on: boolean) {
    clearInterval(clock)
    if (!on) return
    await beat()
    clock = setInterval(() => void beat(), 1000)
  }

  /**
   * Sends a request, which must not get a 5xx. Returns its status and how many queries each server received.
   */
  async function serverOf(path: string, headers: Record<string, string> = {}) {
    for (const proxy of [primary, near]) proxy.takeMessages()
    const { status } = await facade.get(path, headers)
    expect(status, path).toBeLessThan(500)
    const calls = (proxy: Proxy) =>
      proxy.takeMessages().filter((text) => /answer/.test(text) && !/settle_alarms/.test(text))
        .length
    return { status, replica: calls(near), primary: calls(primary) }
  }

  const byReplica = { status: 200, replica: 1, primary: 0 }
  const byPrimary = { status: 200, replica: 0, primary: 1 }
  const bySecondTry = { status: 200, replica: 1, primary: 1 }

  const untilItAnswers = () =>
    waitUntil('the replica answers', async () => {
      const { replica, primary } = await serverOf('/meta/kinds')
      return replica === 1 && primary === 0
    })

  beforeAll(async () => {
    owner = await signUp()
    listing = await insertListing(owner.identityId)
    port = await freePorts(1)
    await start()
    const url = defaultSettings().FACADE_DB_URL!
    primary = await startCountingProxy(url)
    near = await startCountingProxy(urlAt(url, port))
    facade = await startFacade({ FACADE_DB_URL: primary.url, FACADE_READ_DB_URL: near.url })
    await beats(true)
    await untilItAnswers()
  })

  afterAll(async () => {
    await beats(false)
    await facade?.stop()
    for (const proxy of [primary, near]) proxy?.stop()
    await onReplica?.end()
    await replica?.stop()
    for (const kind of ['replica_away', 'replica_foreign']) await forget(kind)
  })

  test('answers guests, by the reviewed functions and no others', async () => {
    const { rows: [{ ref }] } = await database().query(
      'select ref_no as ref from public.properties where id = $1',
      [listing],
    )
    const company = await insertOrganisation(owner.id, 'company')
    await untilItAnswers()
    const called = new Set<string>()
    for (
      const path of [
        '/meta/app',
        '/meta/governorates',
        '/meta/areas',
        '/meta/kinds',
        '/meta/amenities',
        '/meta/enums',
        '/map/areas',
        '/map/areas/salmiya/history?type=SALE&kind=villa',
        '/map/listings?bbox=47.9,29.2,48.1,29.4&zoom=12',
        '/feed?snapshot=' + new Date(Date.now() - 60_000).toISOString(),
        '/search',
        `/search?q=${encodeURIComponent('فيلا في السالمية')}`,
        '/search/count?type=SALE&by=kinds',
        '/search/suggest?q=sal',
        `/properties/${listing}`,
        `/properties/KW-${ref}`,
        `/properties/${listing}/similar`,
        `/properties/${listing}/price-history`,
        '/companies',
        `/company/${company}`,
        `/identities/${owner.identityId}`,
        `/identities/${owner.identityId}/listings`,
        `/reviews?identityId=${owner.identityId}`,
      ]
    ) {
      for (const proxy of [primary, near]) proxy.takeMessages()
      expect((await facade.get(path)).status, path).toBe(200)
      // Once a minute a process reports to the primary that its replica is reachable.
      const messages = primary.takeMessages().filter((text) => !/settle_alarms/.test(text))
      expect(messages, path).toEqual([])
      for (const text of near.takeMessages()) {
        const [, name] = /(?:api|private)\.(\w+)\([^;]*as answer/.exec(text) ?? []
        called.add(name!)
      }
    }
    const { mayBeOld } = JSON.parse(
      await runFacadeCode(
        `import { mayBeOld } from ${moduleOf('_shared/database/replicas.ts')}
         console.log(JSON.stringify({ mayBeOld: [...mayBeOld] }))`,
      ),
    )
    expect([...called].sort()).toEqual(mayBeOld)
  })

  test('is not asked for whoever has a token, nor about anything else', async () => {
    const authorization = `Bearer ${owner.accessToken}`
    for (const path of ['/search', `/properties/${listing}`, '/favorites']) {
      expect(await serverOf(path, { authorization }), path).toEqual(byPrimary)
    }
    expect((await serverOf('/search', { authorization: 'Bearer none' })).replica).toBe(1)
  })

  test('refuses like the primary', async () => {
    expect(await serverOf(`/properties/${crypto.randomUUID()}`)).toEqual({
      ...byReplica,
      status: 404,
    })
    const old = '/feed?snapshot=2020-01-01T00:00:00Z'
    expect(await serverOf(old)).toEqual({ ...byReplica, status: 422 })
  })

  test('is not believed about a snapshot of the feed whose listings it may lack', async () => {
    const at = (secondsAgo: number) =>
      `/feed?snapshot=${new Date(Date.now() - 1000 * secondsAgo).toISOString()}`
    expect(await serverOf(at(5))).toEqual(bySecondTry)
    expect(await serverOf(at(30))).toEqual(byReplica)
  })

  test('that is behind is believed for five seconds, and again when it has caught up', async () => {
    await beats(false)
    await beat(4)
    await waitUntil(
      'it has come',
      async () =>
        (await onReplica.query(`select private.last_beat() < now() - interval '3 seconds' as old`))
          .rows[0].old,
    )
    await onReplica.query('select pg_wal_replay_pause()')
    const fresh = `/properties/${await insertListing(owner.identityId)}`
    expect(await serverOf(fresh)).toEqual({ ...byReplica, status: 404 })
    await waitUntil('the primary answers', async () => (await serverOf(fresh)).status === 200)
    expect(await serverOf(fresh)).toEqual(byPrimary)
    await onReplica.query('select pg_wal_replay_resume()')
    await beats(true)
    await untilItAnswers()
    expect(await serverOf(fresh)).toEqual(byReplica)
  })

  test('that hangs costs a second try', async () => {
    near.hold()
    expect(await serverOf('/meta/kinds')).toEqual({ ...bySecondTry })
    expect(await serverOf('/meta/kinds')).toEqual(byPrimary)
    near.release()
    await untilItAnswers()
  })

  test('that dies fails nobody, and its alarm is settled when nobody misses it any more', async () => {
    const guests = Promise.all(Array.from({ length: 4 }, async () => {
      for (let count = 0; count < 50; count++) {
        expect((await facade.get('/search?limit=5')).status).toBe(200)
      }
    }))
    replica.process.kill('SIGKILL')
    await guests
    await waitUntil('an alarm says so', async () => {
      expect((await serverOf('/meta/kinds')).status).toBe(200)
      return (await unsettled('replica_away')).length === 1
    })
    await start()
    await untilItAnswers()
    /** Starts a worker that has always reached the replica, and waits until it asks to settle the alarm. */
    const askToSettle = async () => {
      const young = await startFacade({ FACADE_DB_URL: primary.url, FACADE_READ_DB_URL: near.url })
      try {
        primary.takeMessages()
        await waitUntil('it asks', async () => {
          expect((await young.get('/meta/kinds')).status).toBe(200)
          return primary.takeMessages().some((text) => text.includes('settle_alarms'))
        })
      } finally {
        await young.stop()
      }
    }
    await askToSettle()
    // The alarm stays open, because the replica may still be unreachable for another worker.
    expect(await unsettled('replica_away')).toHaveLength(1)
    await database().query(
      `update private.alarms set seen_at = seen_at - interval '5 minutes' where kind = 'replica_away'`,
    )
    await askToSettle()
    await waitUntil('the alarm is settled', async () => !(await unsettled('replica_away')).length)
  })

  test('of another database is refused with an alarm', async () => {
    await forget('replica_foreign')
    const { rows } = await database().query(
      `select pg_get_functiondef(oid) as text from pg_proc
       where proname in ('last_beat', 'require_replica') order by 1`,
    )
    await onTemporaryServer(async (other) => {
      const client = new pg.Client(other.adminUrl)
      await client.connect()
      const password = new URL(other.urlOf('facade')).password
      await client.query(
        `create schema private; create role backend;
         create role facade login noinherit password '${password}'; grant backend to facade;
         grant usage on schema private to backend;
         create table private.timestamps as select 'beat' as name, clock_timestamp() + interval '1 hour' as at;`,
      )
      for (const { text } of rows) await client.query(text)
      await client.end()
      const own = await startFacade({ FACADE_READ_DB_URL: other.urlOf('facade') })
      try {
        await waitUntil('an alarm says so', async () => {
          expect((await own.get('/meta/kinds')).body.items.length).toBeGreaterThan(5)
          return (await unsettled('replica_foreign')).length === 1
        })
      } finally {
        await own.stop()
      }
    })
  })

  test('that was promoted is refused with an alarm, though it beats by itself', async () => {
    await forget('replica_foreign')
    const own = await startFacade({ FACADE_READ_DB_URL: near.url })
    try {
      await onReplica.query('select pg_promote()')
      await onReplica.query('select private.beat()')
      near.takeMessages()
      await waitUntil('an alarm says so', async () => {
        expect((await own.get('/meta/kinds')).status).toBe(200)
        return (await unsettled('replica_foreign')).length === 1
      })
      expect(near.takeMessages().length).toBeGreaterThan(0)
    } finally {
      await own.stop()
      await startAnew()
    }
  })
})
