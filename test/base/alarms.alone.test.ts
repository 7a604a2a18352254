import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { defaultSettings, hasStack, startFacade } from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'
import { ask, forget, linesOf, post, unsettled } from './facade-requests.ts'

const deafMail = {
  MAIL_PROVIDER: 'resend',
  MAIL_API_KEY: randomUUID(),
  MAIL_FROM: 'a@example.com',
  MAIL_URL: 'http://127.0.0.1:9',
}

describe.runIf(hasStack)('alarms', () => {
  const weak = { MYFATOORAH_TOKEN: 'changeme', PAYMENT_PROVIDER: 'tap', TAP_SECRET_KEY: undefined }

  test('of two workers that start at once make one row each, whichever the function', async () => {
    for (const kind of ['secret_refused', 'provider_not_configured']) await forget(kind)
    const workers = await Promise.all([
      startFacade(weak),
      startFacade(weak),
      startFacade(weak, 'jobs'),
    ])
    try {
      await waitUntil('both are kept', async () =>
        (await unsettled('secret_refused')).length +
            (await unsettled('provider_not_configured')).length === 2)
      expect(await unsettled('secret_refused')).toEqual([
        { subject_id: 'MYFATOORAH_TOKEN', details: {} },
      ])
      expect(await unsettled('provider_not_configured')).toMatchObject([{ subject_id: 'tap' }])
      for (const worker of workers) expect(linesOf(worker, 'secret_refused')).toBe(1)
    } finally {
      for (const worker of workers) await worker.stop()
      for (const kind of ['secret_refused', 'provider_not_configured']) await forget(kind)
    }
  })

  test('of a storm make one line and one row, and fail no request', async () => {
    await forget('email_send_failed')
    const facade = await startFacade(deafMail)
    try {
      const people = await Promise.all(Array.from({ length: 12 }, () => signUp()))
      const began = performance.now()
      const requests = people.map(({ identifier }) =>
        post(facade, '/auth/password/forgot', { identifier })
      )
      for (const { status } of await Promise.all(requests)) expect(status).toBe(202)
      const took = performance.now() - began
      await waitUntil('it is kept', async () => (await unsettled('email_send_failed')).length === 1)
      expect((await unsettled('email_send_failed'))[0].subject_id).toBe('resend')
      // The log gets at most one line every ten seconds while emails fail.
      expect(linesOf(facade, 'email_send_failed')).toBeLessThanOrEqual(1 + Math.ceil(took / 10_000))
    } finally {
      await facade.stop()
      await forget('email_send_failed')
    }
  })

  test('of unforeseen errors name the route and nothing of the request', async () => {
    const facade = await startFacade()
    await forget('internal')
    await database().query('alter function api.list_kinds() rename to list_kinds_away')
    try {
      expect((await ask(facade, '/meta/kinds?')).status).toBe(500)
      await waitUntil('it is kept', async () => (await unsettled('internal')).length === 1)
      expect(await unsettled('internal')).toEqual([{
        subject_id: 'GET /meta/kinds',
        details: { name: 'error', requestId: expect.any(String) },
      }])
    } finally {
      await database().query('alter function api.list_kinds_away() rename to list_kinds')
      await facade.stop()
      await forget('internal')
    }
  })

  test('stay in the log while the database is down, and are stored when it is back', async () => {
    await forget('email_send_failed')
    await forget('secret_refused')
    const cut = await cutWay(defaultSettings().FACADE_DB_URL!)
    const weak = { SMS_PROVIDER: 'unifonic', SMS_SENDER: 'DAR', SMS_APP_SID: 'changeme' }
    const facade = await startFacade({ FACADE_DB_URL: cut.url, ...weak, ...deafMail })
    try {
      expect((await ask(facade, '/errors')).status).toBe(200)
      expect(linesOf(facade, 'secret_refused')).toBe(1)
      expect(await unsettled('secret_refused')).toEqual([])
      cut.mend()
      // Raising the next alarm also stores the earlier one.
      await post(facade, '/auth/password/forgot', { identifier: (await signUp()).identifier })
      await waitUntil(
        'both are kept',
        async () =>
          (await unsettled('secret_refused')).length === 1 &&
          (await unsettled('email_send_failed')).length === 1,
      )
    } finally {
      await facade.stop()
      cut.stop()
      await forget('email_send_failed')
      await forget('secret_refused')
      await forget('provider_not_configured')
    }
  })
})

async function cutWay(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let open = false
  const server = createServer((client) => {
    sockets.add(client)
    client.on('error', () => {}).on('close', () => sockets.delete(client))
    if (!open) return client.destroy()
    const upstream = connect(Number(target.port), target.hostname).on('error', () => {})
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  target.port = String((server.address() as AddressInfo).port)
  const url = target.href
  target.port = new URL(databaseUrl).port
  return {
    url,
    mend: () => (open = true),
    stop: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
