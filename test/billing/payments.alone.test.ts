// Hundreds of webhooks (a thousand in nightly runs) arrive at once, processes are killed and the database is
// stopped. The tests run alone because of the load.
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { get, openConnection } from '../../bench/http-load.ts'
import { database, projectUrl, signUp } from '../support/client.ts'
import { defaultSettings, type Facade, startFacade } from '../support/facade.ts'
import {
  alarmsAbout,
  giveMoney,
  hasSandbox,
  type Invoice,
  moneyFingerprint,
  sandboxCallback,
  sendCallback,
  topUpInvoice,
  walletOf,
} from '../support/money.ts'
import { bulk } from '../support/nightly.ts'
import { expectWithin } from '../support/promised-times.ts'
import { type RawRequest, sendRaw } from '../support/races.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { payWithoutCallback, webhook } from './payment-steps.ts'

/** Sends the requests over this many connections and, like a provider, repeats those that get a 503. */
async function pour(shots: RawRequest[], connections = 200) {
  const waiting = [...shots]
  const bodies: { duplicate: boolean }[] = []
  await Promise.all(Array.from({ length: connections }, async () => {
    for (let shot = waiting.shift(); shot; shot = waiting.shift()) {
      const { status, body } = await sendRaw(shot)
      if (status === 503) {
        waiting.push(shot)
        continue
      }
      expect(status).toBe(200)
      bodies.push(body)
    }
  }))
  return bodies
}

async function deliver(raw: string, base: string): Promise<number> {
  let tries = 0
  await waitUntil('it is taken', async () => {
    tries++
    return (await sendCallback(raw, { base })).status === 200
  })
  return tries
}

describe.runIf(hasSandbox)('payments under fire', () => {
  test('PAY-02 hundreds of copies of one webhook over 200 connections have one effect', async () => {
    const person = await signUp()
    const { ref, paymentId } = await payWithoutCallback(person, 10)
    const raw = sandboxCallback(ref)
    const bodies = await pour(Array.from({ length: bulk(1000, 250) }, () => webhook(raw)))
    expect(bodies.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    expect((await walletOf(person)).available).toBe(10)
    const { rows } = await database().query(
      `select count(*)::integer as transfers from public.wallet_transfers
       where source_kind = 'charge' and source_id = $1`,
      [paymentId],
    )
    expect(rows[0].transfers).toBe(1)
    expect(await alarmsAbout(paymentId)).toEqual([])
  })

  test('PAY-02 hundreds of different events of twenty invoices have twenty effects', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 20 }, () => payWithoutCallback(person, 1)))
    const shots = Array.from(
      { length: bulk(1000, 120) },
      (_, i) => webhook(sandboxCallback(all[i % 20]!.ref)),
    )
    await pour(shots, 100)
    expect((await walletOf(person)).available).toBe(20)
  })

  test(
    'PAY-14 CRASH-02 functions killed while taking webhooks pay each invoice once',
    async () => {
      const person = await signUp()
      let count = 0
      for (let round = 0; round < bulk(50, 4); round++) {
        const all = await Promise.all(
          Array.from({ length: 3 }, () => payWithoutCallback(person, 1)),
        )
        const raws = all.map(({ ref }) => sandboxCallback(ref))
        const doomed = await startFacade()
        // This first request opens the connections to the database.
        await fetch(`${doomed.url}/meta/kinds`).then((response) => response.text())
        const deliveries = raws.map((raw) =>
          sendCallback(raw, { base: doomed.url }).catch(() => undefined)
        )
        await pause(randomInt(50), 'any moment is right')
        process.kill(doomed.pid, 'SIGKILL')
        await Promise.all(deliveries)
        for (const raw of raws) await deliver(raw, `${projectUrl}/functions/v1/api`)
        count += all.length
        expect((await walletOf(person)).available).toBe(count)
      }
    },
  )

  test(
    'CRASH-02 functions killed while charging keep what was acknowledged, and do nothing twice',
    async () => {
      const person = await signUp()
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${person.accessToken}`,
      }
      const acknowledged = new Map<string, string>()
      const invoices = await Promise.all(Array.from({ length: 12 }, () => topUpInvoice(person, 1)))
      const ask = async (base: string, { id }: Invoice) => {
        const response = await fetch(`${base}/payments/charge`, {
          method: 'POST',
          headers: { ...headers, 'idempotency-key': id },
          body: JSON.stringify({
            invoiceId: id,
            returnUrl: 'https://app.example/payments/back',
          }),
        })
        const body = await response.json()
        if (response.status === 200) acknowledged.set(id, body.redirectUrl)
        return response.status
      }
      for (let round = 0; round < 4; round++) {
        const doomed = await startFacade()
        const requests = invoices.slice(round * 3, round * 3 + 3)
          .map((invoice) => ask(doomed.url, invoice).catch(() => 0))
        await pause(randomInt(60), 'any moment is right')
        process.kill(doomed.pid, 'SIGKILL')
        await Promise.all(requests)
      }
      const before = new Map(acknowledged)
      const base = `${projectUrl}/functions/v1/api`
      await database().query(
        `update public.payments set requested_at = now() - interval '10 seconds'
         where state = 'starting' and invoice_id = any ($1)`,
        [invoices.map(({ id }) => id)],
      )
      for (const invoice of invoices) expect(await ask(base, invoice)).toBe(200)
      for (const [id, address] of before) expect(acknowledged.get(id)).toBe(address)
      const { rows } = await database().query(
        `select count(*)::integer as charges, count(distinct invoice_id)::integer as invoices
         from public.payments where invoice_id = any ($1)`,
        [invoices.map(({ id }) => id)],
      )
      expect(rows).toEqual([{ charges: 12, invoices: 12 }])
    },
  )

  test('PAY-13 while the database is down nothing is acknowledged, and nothing is lost', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 20 }, () => payWithoutCallback(person, 1)))
    const raws = all.map(({ ref }) => sandboxCallback(ref))
    const way = await cutableWay(defaultSettings().FACADE_DB_URL!)
    const facade: Facade = await startFacade({ FACADE_DB_URL: way.url })
    try {
      way.cut()
      for (const raw of raws) {
        const { status, headers } = await sendCallback(raw, { base: facade.url })
        expect(status).toBe(503)
        expect(headers.get('retry-after')).toMatch(/^\d+$/)
      }
      expect((await walletOf(person)).available).toBe(0)
      way.mend()
      for (const raw of raws) await deliver(raw, facade.url)
      expect((await walletOf(person)).available).toBe(20)
    } finally {
      await facade.stop()
      way.stop()
    }
  })

  test('PAY-13 connections that break in use lose no webhook', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 30 }, () => payWithoutCallback(person, 1)))
    const way = await cutableWay(defaultSettings().FACADE_DB_URL!)
    const facade = await startFacade({ FACADE_DB_URL: way.url })
    try {
      const delivered = Promise.all(all.map(({ ref }) => deliver(sandboxCallback(ref), facade.url)))
      // A slow machine would never finish if connections kept breaking this often, so the
      // number of breaks is limited.
      for (let breaks = 0; breaks < 50; breaks++) {
        await pause(30 + randomInt(40), 'any moment is right')
        way.breakAll()
      }
      const tries = await delivered
      expect(Math.max(...tries), 'some had to come again').toBeGreaterThan(1)
      expect((await walletOf(person)).available).toBe(30)
    } finally {
      await facade.stop()
      way.stop()
    }
  })

  test('CRASH-07 connections that end again and again fail a few requests, and those cleanly', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 30 }, () => payWithoutCallback(person, 1)))
    const way = await cutableWay(defaultSettings().FACADE_DB_URL!)
    const facade = await startFacade({ FACADE_DB_URL: way.url })
    const headers = { authorization: `Bearer ${person.accessToken}` }
    const seen: Record<string, number> = {}
    let longest = 0
    const check = async () => {
      const began = performance.now()
      const response = await fetch(`${facade.url}/wallet`, { headers })
      const { error } = await response.json()
      longest = Math.max(longest, performance.now() - began)
      const retry = response.headers.has('retry-after') ? 'again later' : ''
      const what = response.ok ? 'ok' : `${response.status} ${error?.code} ${retry}`
      seen[what] = (seen[what] ?? 0) + 1
    }
    try {
      let running = true
      const load = Promise.all(Array.from({ length: 10 }, async () => {
        while (running) await check()
      }))
      const delivered: Promise<number>[] = []
      for (let breaks = 0; breaks < 10; breaks++) {
        for (const { ref } of all.slice(breaks * 3, breaks * 3 + 3)) {
          delivered.push(deliver(sandboxCallback(ref), facade.url))
        }
        const before = seen.ok ?? 0
        await waitUntil('requests go well', () => (seen.ok ?? 0) >= before + 100)
        way.breakAll()
      }
      await Promise.all(delivered)
      running = false
      await load
      const clean = '503 service_unavailable again later'
      expect(Object.keys(seen).sort()).toEqual([clean, 'ok'])
      expect(seen.ok! / (seen.ok! + seen[clean]!)).toBeGreaterThanOrEqual(0.8)
      expectWithin('nothing hangs', longest)
      expect((await walletOf(person)).available).toBe(30)
      const before = seen.ok!
      for (let i = 0; i < 20; i++) await check()
      expect(seen.ok, 'normal afterwards').toBe(before + 20)
    } finally {
      await facade.stop()
      way.stop()
    }
  })

  test(
    'LOAD-06 webhooks go through while a flood of searches is shed',
    async () => {
      const person = await signUp()
      const all = await Promise.all(Array.from({ length: 60 }, () => payWithoutCallback(person, 1)))
      // This facade has the time limits of a hosted one.
      const facade = await startFacade()
      const counts = { answered: 0, shed: 0 }
      let over = false
      // Each connection searches for different words, because identical searches share a response.
      const flood = Promise.all(Array.from({ length: 200 }, async (_, nth) => {
        const words = encodeURIComponent(`فيلا السالمية ${nth}`)
        const { origin, pathname } = new URL(facade.url)
        const search = get(origin, `${pathname}/search?q=${words}&sort=price_asc`)
        const connection = openConnection(new URL(origin))
        while (!over) {
          if (await connection.ask(search)) counts.answered++
          else counts.shed++
        }
        connection.close()
      }))
      await waitUntil(
        'searches are answered, and shed',
        () => counts.answered > 0 && counts.shed > 0,
      )
      let taken = 0
      for (const { ref } of all) {
        const { status } = await sendCallback(sandboxCallback(ref), { base: facade.url })
        if (status === 200) taken++
      }
      over = true
      await flood
      await facade.stop()
      expect(taken).toBeGreaterThanOrEqual(60 * 0.99)
      expect((await walletOf(person)).available).toBe(taken)
    },
  )

  test('PAY-06 a log of hundreds of events played again changes nothing', async () => {
    const person = await signUp()
    const all = await Promise.all(Array.from({ length: 10 }, () => payWithoutCallback(person, 1)))
    const log = Array.from(
      { length: bulk(1000, 120) },
      (_, i) => sandboxCallback(all[i % 10]!.ref),
    )
    await pour(log.map((raw) => webhook(raw)), 50)
    const before = await moneyFingerprint(person.identityId)
    const fresh = await startFacade()
    try {
      const bodies = await pour(log.map((raw) => ({ ...webhook(raw), base: fresh.url })), 50)
      expect(bodies.every(({ duplicate }) => duplicate)).toBe(true)
      expect(await moneyFingerprint(person.identityId)).toBe(before)
    } finally {
      await fresh.stop()
    }
  })
})

/** Damages the data, recounts all wallets and returns the alarms, in a transaction that is rolled back. */
async function recountAfter(harm: (client: pg.PoolClient) => Promise<unknown>) {
  const client = await database().connect()
  try {
    await client.query('begin')
    await harm(client)
    await client.query(
      `insert into private.recounts (name, last_wallet_id) values ('wallets', gen_random_uuid())
       on conflict do nothing`,
    )
    await client.query(
      `update private.recounts set last_wallet_id = '00000000-0000-0000-0000-000000000000'`,
    )
    for (let rounds = 0; rounds < 50; rounds++) {
      await client.query('select private.recount_wallets()')
      const { rows } = await client.query(
        `select kind, subject_id, details from private.alarms where kind like 'wallet\\_%'`,
      )
      if (rows.length) return rows
    }
    throw new Error('the recount found nothing')
  } finally {
    await client.query('rollback')
    client.release()
  }
}

test('WAL-05 the recount finds what is held for no refund', async () => {
  const { identityId } = await signUp()
  let wallet: string
  const found = await recountAfter(async (client) => {
    const { rows } = await client.query(
      `select private.move_money(private.system_account('adjustments'), wallet, 3,
         'hold', 'hold', gen_random_uuid()), wallet
       from private.wallet_of($1, 'held') as wallet`,
      [identityId],
    )
    wallet = rows[0].wallet
  })
  expect(found).toEqual([
    { kind: 'wallet_held', subject_id: wallet!, details: { held: 3, refunds: 0 } },
  ])
})

test('WAL-06 the recount finds a wallet that differs, and no other', async () => {
  const [person, other] = await Promise.all([signUp(), signUp()])
  for (const { identityId } of [person, other]) {
    await giveMoney(identityId, 7)
  }
  let wallet: string
  const found = await recountAfter(async (client) => {
    const { rows: [{ id }] } = await client.query(
      `select id from public.wallets where identity_id = $1`,
      [person.identityId],
    )
    wallet = id
    // Bypasses all triggers, as a corrupted disk would.
    await client.query('alter table public.wallets disable trigger user')
    await client.query('update public.wallets set balance = 8 where id = $1', [id])
    await client.query('alter table public.wallets enable trigger user')
  })
  expect(found).toEqual([
    { kind: 'wallet_differs', subject_id: wallet!, details: { balance: 8, summed: 7 } },
  ])
})

async function cutableWay(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let open = true
  const server = createServer((client) => {
    client.on('error', () => {})
    if (!open) return client.destroy()
    const upstream = connect(Number(target.port || 5432), target.hostname).on('error', () => {})
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const breakAll = () => sockets.forEach((socket) => socket.destroy())
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    breakAll,
    cut: () => {
      open = false
      breakAll()
    },
    mend: () => (open = true),
    stop: () => {
      breakAll()
      server.close()
    },
  }
}
