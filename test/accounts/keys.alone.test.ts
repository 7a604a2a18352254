import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { addKey, makeCurrent, revokeKey } from '../../local/config/signing-keys.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { projectUrl, signUp } from '../support/client.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { startGateway } from '../support/own-gateway.ts'
import { newKey, partsOf, signEs256 } from '../support/tokens.ts'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const statusOf = async (functions: Facade, token: string) =>
  (await functions.get('/auth/me', bearer(token))).status

describe.runIf(hasStack)('the keys of the project', () => {
  test('AUTH-03 five hundred unknown key ids fetch the key set once', async () => {
    const person = await signUp()
    const { header, claims } = partsOf(person.accessToken)
    let requests = 0
    const server = createServer(async (_request, response) => {
      requests++
      const keys = await fetch(`${projectUrl}/auth/v1/.well-known/jwks.json`)
      response.end(await keys.text())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const functions = await startFacade({
      SUPABASE_URL: url,
      AUTH_ISSUER: `${projectUrl}/auth/v1`,
    })
    try {
      expect(await statusOf(functions, person.accessToken)).toBe(200)
      expect(requests).toBe(1)
      const key = newKey()
      const statuses = new Set<number>()
      for (let i = 0; i < 500; i += 50) {
        const tokens = Array.from(
          { length: 50 },
          () => signEs256({ ...header, kid: randomUUID() }, claims, key),
        )
        for (const one of await Promise.all(tokens.map((token) => statusOf(functions, token)))) {
          statuses.add(one)
        }
      }
      expect([...statuses]).toEqual([401])
      expect(requests).toBe(2)
      expect(await statusOf(functions, person.accessToken)).toBe(200)
    } finally {
      await functions.stop()
      server.close()
    }
  })

  test('while the key set is unavailable, a token is neither accepted nor rejected', async () => {
    const person = await signUp()
    const functions = await startFacade({
      SUPABASE_URL: 'http://127.0.0.1:9',
      AUTH_ISSUER: `${projectUrl}/auth/v1`,
    })
    try {
      const reply = await functions.get('/auth/me', bearer(person.accessToken))
      expect(reply).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } })
      expect(reply.headers.get('retry-after')).toMatch(/^[0-9]+$/)
      expect((await functions.get('/errors', bearer(person.accessToken))).status).toBe(200)
    } finally {
      await functions.stop()
    }
  })

  test('AUTH-04 keys change without a restart, a revoked one ends within the cache', async () => {
    const folder = variable('LOCAL_STACK')!
    const { identifier, password, accessToken } = await signUp()
    const current = String(partsOf(accessToken).header.kid)
    const quick = await startFacade({ JWKS_MAX_AGE: '1' })
    const gateway = await startGateway({ JWKS_MAX_AGE: '1' })
    const connect = (accessToken: string) => ChatSocket.connect({ accessToken }, gateway.url)
    /** Signs in until Auth signs tokens with this key, and returns the token. */
    const signedBy = async (kid: string) => {
      for (;;) {
        const { body } = await quick.post('/auth/login', { identifier, password })
        // The real Auth restarts with new keys and is unavailable for a moment, so the request is retried.
        const { accessToken } = body
        if (accessToken && partsOf(accessToken).header.kid === kid) return String(accessToken)
      }
    }
    // Rotates the suite's key out for a moment, and then back in.
    const other = await addKey(folder)
    try {
      expect(await statusOf(quick, accessToken)).toBe(200)
      makeCurrent(folder, other)
      const first = await signedBy(other)
      expect(await statusOf(quick, first)).toBe(200)
      expect(await statusOf(quick, accessToken)).toBe(200)
      makeCurrent(folder, current)
      const second = await signedBy(current)
      expect(await statusOf(quick, second)).toBe(200)
      expect(await statusOf(quick, first)).toBe(200)
      const [early, late] = [await connect(first), await connect(second)]
      revokeKey(folder, other)
      await expect.poll(() => statusOf(quick, first)).toBe(401)
      expect(await statusOf(quick, second)).toBe(200)
      // Open sockets that were authenticated with such a token are closed, too.
      expect(await early.waitForClose()).toMatchObject({ code: 4401, reason: 'token_invalid' })
      expect((await late.ask('heartbeat', {})).event).toBe('ack')
      late.close()
    } finally {
      makeCurrent(folder, current)
      revokeKey(folder, other)
      await Promise.all([quick.stop(), gateway.kill()])
    }
  })
})
