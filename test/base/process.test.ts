import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { expect } from 'vitest'
import { testLocally } from '../support/facade.ts'
import { startFacadeProcess } from '../support/facade-process.ts'
import { within } from '../support/promised-times.ts'
import { waitUntil } from '../support/wait.ts'
import { type Answer, startSmsStub } from '../accounts/stub-sms.ts'
import { normalizedIdentifier, signUpByPhone } from '../support/codes.ts'

testLocally('CRASH-05 the facade as a plain process loses no request by SIGTERM', async () => {
  const facade = await startFacadeProcess()

  async function ask(agent: Agent, path: string, body: string[] = [], beginning?: Promise<void>) {
    const method = body.length ? 'POST' : 'GET'
    const sent = request({ host: '127.0.0.1', port: facade.port, agent, path, method })
    const answered = once(sent, 'response')
    if (body.length) {
      sent.setHeader('content-type', 'application/json')
      sent.setHeader('content-length', Buffer.byteLength(body.join('')))
      sent.write(body[0])
      await beginning
      sent.write(body[1])
    }
    sent.end()
    const [response] = await answered
    await once(response.resume(), 'end')
    return { status: response.statusCode, isLast: response.headers.connection === 'close' }
  }

  let most = 0
  async function askOnAndOn() {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let count = 1;; count++) {
      const { status, isLast } = await ask(agent, '/search?limit=1')
      expect(status).toBe(200)
      if (isLast) return
      most = Math.max(most, count)
    }
  }

  try {
    const once = new Agent()
    const large = ['x'.repeat(200_000), 'x'.repeat(200_000)]
    expect(await ask(once, '/auth/login', large)).toMatchObject({ status: 413 })
    const { promise: beginning, resolve: sendTheRest } = Promise.withResolvers<void>()
    const half = ask(once, '/search/advanced', ['{"strategy":', '"standard"}'], beginning)
    const busy = Promise.all(Array.from({ length: 4 }, askOnAndOn))
    await waitUntil('requests come and go', () => most > 3)
    const ended = facade.end()
    await busy
    // The stopping process still accepts new connections, because proxies may not have noticed yet.
    expect(await ask(once, '/meta/kinds')).toEqual({ status: 200, isLast: true })
    sendTheRest()
    expect(await half).toEqual({ status: 200, isLast: true })
    expect(await ended).toEqual([0, null])
  } finally {
    facade.kill()
  }
})

async function opened(port: number) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

testLocally(
  'CRASH-05 a connection without a request and a body that stalls end no later',
  async () => {
    const facade = await startFacadeProcess()
    const unused = await opened(facade.port)
    const stalled = await opened(facade.port)
    try {
      stalled.write(
        'POST /auth/login HTTP/1.1\r\nHost: facade\r\nContent-Type: application/json\r\n' +
          'Content-Length: 100\r\n\r\n{"identifier":',
      )
      expect(await within('a facade has stopped, whatever stalls', async () => await facade.end()))
        .toEqual([0, null])
    } finally {
      for (const socket of [unused, stalled]) socket.destroy()
      facade.kill()
    }
  },
)

testLocally('CRASH-05 what goes on after an answer ends before the process does', async () => {
  const { identifier } = await signUpByPhone()
  const sms = await startSmsStub()
  const { promise: asked, resolve: take } = Promise.withResolvers<Parameters<Answer>[0]>()
  sms.answers.set(normalizedIdentifier(identifier).slice(1), take)
  const facade = await startFacadeProcess({
    SMS_PROVIDER: 'kwtsms',
    SMS_USERNAME: 'u',
    SMS_PASSWORD: 'long-enough-for-kwtsms',
    SMS_SENDER: 'DAR',
    SMS_URL: sms.url,
    PATIENCE: '100',
  })
  try {
    // A keep-alive connection would also delay the exit of the facade, so the agent uses none.
    const sent = request({
      host: '127.0.0.1',
      port: facade.port,
      path: '/auth/password/forgot',
      method: 'POST',
      agent: new Agent(),
      headers: { 'content-type': 'application/json' },
    })
    sent.end(JSON.stringify({ identifier }))
    const [answer] = await once(sent, 'response')
    await once(answer.resume(), 'end')
    expect(answer.statusCode).toBe(202)
    const provider = await asked
    const ended = facade.end()
    await waitUntil(
      'it listens no more',
      () => opened(facade.port).then((socket) => Boolean(socket.destroy()) && false, () => true),
    )
    expect(provider.closed).toBe(false)
    provider.end(JSON.stringify({ result: 'OK' }))
    await once(provider, 'close')
    expect(provider.writableFinished).toBe(true)
    expect(await ended).toEqual([0, null])
  } finally {
    facade.kill()
    await sms.stop()
  }
})

testLocally('CRASH-05 a second signal ends it at once', async () => {
  const facade = await startFacadeProcess()
  const socket = await opened(facade.port)
  try {
    void facade.end()
    // Two signals sent at the same moment would arrive as one.
    await waitUntil('the first has come', () => facade.said().includes('stopping'))
    expect(await facade.end()).toEqual([1, null])
  } finally {
    socket.destroy()
    facade.kill()
  }
})
