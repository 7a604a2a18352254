import { describe, expect, test } from 'vitest'
import { ChatSocket, chatUrl } from '../support/chat-socket.ts'
import { signUp } from '../support/client.ts'
import { testLocally } from '../support/facade.ts'
import { startGateway } from '../support/own-gateway.ts'
import { waitUntil } from '../support/wait.ts'
import { startConversation } from '../support/conversations.ts'
import { closeAfterTest } from './sockets.ts'

describe('a token', () => {
  test('is accepted in the header, in the subprotocol or in the first frame', async () => {
    const { a, conversationId } = await startConversation()
    const byHeader = new ChatSocket({ headers: { authorization: `bEaReR ${a.accessToken}` } })
    const byProtocol = new ChatSocket({ protocols: ['chat', `bearer.${a.accessToken}`] })
    const alone = new ChatSocket({ protocols: [`bearer.${a.accessToken}`] })
    closeAfterTest(byHeader, byProtocol, alone)
    for (const socket of [byHeader, byProtocol, alone]) {
      await socket.opened()
      expect((await socket.join(conversationId)).event).toBe('ack')
    }
    expect(byProtocol.socket.protocol).toBe('chat')
    const silent = new ChatSocket()
    closeAfterTest(silent)
    await silent.opened()
    expect(await silent.join(conversationId))
      .toMatchObject({ event: 'error', data: { code: 'token_missing' } })
    const { event, data } = await silent.ask('auth', { accessToken: a.accessToken })
    expect(event).toBe('ack')
    expect(Date.parse(data.expiresAt)).toBeGreaterThan(Date.now())
  })

  test('AUTH-10 is accepted nowhere else', async () => {
    const { accessToken } = await signUp()
    for (const name of ['access_token', 'token', 'jwt', 'x', 'apikey', 'Authorization']) {
      const socket = new ChatSocket({ url: `${chatUrl}?${name}=${accessToken}` })
      expect(await socket.waitForClose()).toMatchObject({ code: 4400 })
      expect(socket.frames).toEqual([])
    }
    const both = new ChatSocket({
      url: `${chatUrl}?token=${accessToken}`,
      headers: { authorization: `Bearer ${accessToken}` },
    })
    expect((await both.waitForClose()).code).toBe(4400)
    for (const scheme of ['Basic', 'Token', 'JWT', 'Bearer Bearer', '']) {
      const socket = new ChatSocket({
        headers: { authorization: `${scheme} ${accessToken}`.trim() },
      })
      expect((await socket.waitForClose()).code).toBe(4401)
      expect(socket.events('error')).toMatchObject([{ code: 'token_invalid' }])
    }
    for (
      const headers of [{ cookie: `access_token=${accessToken}` }, {
        'x-access-token': accessToken,
      }]
    ) {
      const socket = new ChatSocket({ headers: headers as unknown as Record<string, string> })
      closeAfterTest(socket)
      await socket.opened()
      expect(await socket.ask('heartbeat', {}))
        .toMatchObject({ event: 'error', data: { code: 'token_missing' } })
    }
  })

  test('that is invalid gets an error and is closed with 4401', async () => {
    const { accessToken } = await signUp()
    for (const token of ['x', 'a.b.c', `${accessToken.slice(0, -4)}AAAA`, 'a'.repeat(9000)]) {
      const socket = new ChatSocket()
      await socket.opened()
      const answer = await socket.ask('auth', { accessToken: token })
      expect(answer.event).toBe('error')
      if (answer.data.code === 'validation_failed') socket.close()
      else expect((await socket.waitForClose()).code).toBe(4401)
    }
  })
})

describe('CHAT-11 upgrades from other sites', () => {
  test('a foreign origin is refused, whatever else is right', async () => {
    const { accessToken } = await signUp()
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1.evil.example']) {
      const socket = new ChatSocket({
        headers: { origin, authorization: `Bearer ${accessToken}`, cookie: 'a=b' },
      })
      let status = 0
      socket.socket.on(
        'unexpected-response',
        (_request, response) => (status = response.statusCode!),
      )
      await waitUntil('it is refused', () => status !== 0)
      expect(status).toBe(422)
    }
  })

  testLocally('an allowed origin is let in', async () => {
    const app = 'https://app.example'
    const own = await startGateway({ CORS_ORIGINS: `https://other.example,${app}` })
    const { accessToken } = await signUp()
    const socket = new ChatSocket({
      url: own.url,
      headers: { origin: app, authorization: `Bearer ${accessToken}` },
    })
    closeAfterTest(socket)
    await socket.opened()
    expect((await socket.ask('heartbeat', {})).event).toBe('ack')
    await own.terminate()
    expect(own.output()).not.toContain(accessToken)
  })
})
