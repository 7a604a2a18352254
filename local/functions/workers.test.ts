// In these tests, workers live for only a few seconds. The tests run in parallel, as they mostly wait.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createChat, gateway } from '../../client/src/chat/index.ts'
import { createClient } from '../../client/src/index.ts'
import type { Message } from '../../functions/chat/protocol.ts'
import { ChatSocket, upTo } from '../../test/support/chat-socket.ts'
import { type Person, projectUrl, signUp } from '../../test/support/client.ts'
import { hasStack } from '../../test/support/facade.ts'
import { bulk } from '../../test/support/nightly.ts'
import { startWorkers } from '../../test/support/own-workers.ts'
import { pause, waitUntil } from '../../test/support/wait.ts'
import { startConversation, wholeHistory } from '../../test/support/conversations.ts'
import { ageCodes } from '../../test/support/codes.ts'

type AtEnd = (end: () => void | Promise<void>) => void

async function workersWith(atEnd: AtEnd, choice: Parameters<typeof startWorkers>[0]) {
  const { url, used, stop } = await startWorkers(choice)
  atEnd(stop)
  /** Waits until a new worker responds, that is, until half of the previous worker's lifetime is over. */
  const untilNext = (path: string) => {
    const before = used()
    return waitUntil('another worker has taken over', async () => {
      await (await fetch(`${url}/${path}`)).body?.cancel()
      return used() > before
    })
  }
  return { url, used, untilNext }
}

type Call = { path: string; response: ServerResponse; whole: boolean }

async function listener(atEnd: AtEnd) {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    const call = { path: request.url!, response, whole: false }
    calls.push(call)
    request.resume()
    response.on('close', () => (call.whole = response.writableFinished))
  }).listen(0, '127.0.0.1')
  atEnd(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const called = async (path: string) => {
    const find = () => calls.find((call) => call.path === path)
    await waitUntil(`${path} is called`, () => find() !== undefined)
    return find()!
  }
  return { url, called, has: (path: string) => calls.some((call) => call.path === path) }
}

/** The code of a function that keeps a connection to the listener and reports when work begins and ends. */
const probe = (outside: string) => `
  const worker = crypto.randomUUID()
  let seen = 0
  const tell = (what: string) => fetch('${outside}/' + what).then((answer) => answer.body?.cancel())
  void tell(worker).catch(() => {})
  Deno.serve(async (request: Request) => {
    const what = new URL(request.url).pathname.split('/')[2]
    const later = () => tell(what + '-begins').then(() => tell(what + '-ends'))
    if (what === 'waited') EdgeRuntime.waitUntil(later())
    if (what === 'forgotten') setTimeout(() => tell('forgotten'), 60_000)
    if (what === 'asked') await later()
    if (what === 'thrown') {
      void Promise.reject(new Error('on purpose'))
      await new Promise(() => {})
    }
    return Response.json({ worker, seen: ++seen })
  })
`

async function probes(atEnd: AtEnd, life: number) {
  const outside = await listener(atEnd)
  const functions = { probe: probe(outside.url) }
  const { url, untilNext } = await workersWith(atEnd, { life, functions })
  const ask = async (path = 'plain') => {
    const response = await fetch(`${url}/probe/${path}`)
    return { status: response.status, body: await response.json() }
  }
  const untilGone = async (worker: string) => {
    const { response } = await outside.called(`/${worker}`)
    await waitUntil('the worker is gone', () => response.closed)
  }
  return { ask, untilNext: () => untilNext('probe/plain'), untilGone, outside }
}

describe.runIf(hasStack).concurrent('a worker of an edge function', () => {
  test('takes requests for half of its lifetime, and then a new one starts unnoticed', async ({ onTestFinished }) => {
    const { ask } = await probes(onTestFinished, 4)
    const seen = new Map<string, number[]>()
    while (seen.size < 3) {
      const { status, body } = await ask()
      expect(status).toBe(200)
      seen.set(body.worker, [...seen.get(body.worker) ?? [], body.seen])
      await pause(20, 'any moment is right')
    }
    for (const counts of seen.values()) expect(counts).toEqual(upTo(counts.length))
  })

  test('is dropped at half of its lifetime, unless waitUntil keeps it', async ({ onTestFinished }) => {
    const { ask, untilNext, untilGone, outside } = await probes(onTestFinished, 10)
    const stored = await ask('waited')
    const begins = await outside.called('/waited-begins')
    await untilNext()
    begins.response.end()
    const ends = await outside.called('/waited-ends')
    ends.response.end()
    await untilGone(stored.body.worker)

    const dropped = await ask('forgotten')
    await untilGone(dropped.body.worker)
    expect(outside.has('/forgotten')).toBe(false)
  })

  test('finishes requests that came in the first half of its lifetime', async ({ onTestFinished }) => {
    const { ask, untilNext, outside } = await probes(onTestFinished, 10)
    const asked = ask('asked')
    const begins = await outside.called('/asked-begins')
    await untilNext()
    begins.response.end()
    const ends = await outside.called('/asked-ends')
    ends.response.end()
    const first = await asked
    expect(first.status).toBe(200)
    expect((await ask()).body.worker).not.toBe(first.body.worker)
  })

  test('ends with its lifetime in any case: 546 for unanswered requests', async ({ onTestFinished }) => {
    const { ask, outside } = await probes(onTestFinished, 6)
    const late = ask('asked')
    expect((await ask('waited')).status).toBe(200)
    expect(await late).toMatchObject({ status: 546, body: { code: 'WORKER_LIMIT' } })
    expect((await ask()).body.seen).toBe(1)
    expect([outside.has('/asked-ends'), outside.has('/waited-ends')]).toEqual([false, false])
  })

  test('dies of an unhandled rejection, alone', async ({ onTestFinished }) => {
    const { ask } = await probes(onTestFinished, 600)
    expect(await ask('thrown')).toMatchObject({ status: 500, body: { code: 'WORKER_ERROR' } })
    expect(await ask()).toMatchObject({ status: 200, body: { seen: 1 } })
  })

  test('is ended with the others while it starts, and its request is 503', async () => {
    const functions = { late: 'Deno.serve(() => new Response())' }
    const { url, calls, stop } = await startWorkers({ life: 600, functions })
    const answer = fetch(`${url}/late`)
    await waitUntil('it starts', () => calls() === 1)
    await stop()
    expect((await answer).status).toBe(503)
  })

  test('exists only for existing functions: 404 for others, 503 for one that fails to start', async ({ onTestFinished }) => {
    const functions = { broken: 'throw new Error("no")' }
    const { url } = await workersWith(onTestFinished, { life: 600, functions })
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
    const response = await fetch(`${url}/broken`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ code: 'BOOT_ERROR', retryAfter: 1 })
  })

  test('finishes sending a code after the answer', async ({ onTestFinished }) => {
    const { identifier } = await signUp()
    const life = 5
    /** Whether a worker sent the complete code although half of its lifetime was over. */
    const isSent = async () => {
      const inbox = await listener(onTestFinished)
      const settings = { INBOX_URL: inbox.url }
      const { url } = await workersWith(onTestFinished, { life, settings })
      const response = await fetch(`${url}/api/auth/password/forgot`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ identifier }),
      })
      expect(response.status).toBe(202)
      const sent = await inbox.called('/messages')
      const began = performance.now()
      await pause(life * 500, 'time is the subject')
      sent.response.end('{}')
      await waitUntil('it is over', () => sent.response.closed)
      // Sending may take four seconds, which a slow machine can exceed.
      if (performance.now() - began < 4000) expect(sent.whole).toBe(true)
      return sent.whole
    }
    while (!await isSent()) await ageCodes(identifier, 45)
  })

  test('keeps a socket of the chat past half of its lifetime, and ends it with 1012', async ({ onTestFinished }) => {
    const { a, b, conversationId } = await startConversation()
    const { url, untilNext } = await workersWith(onTestFinished, { life: 10 })
    const connect = async (person: Person) => {
      const socket = await ChatSocket.connect(person, `${url.replace('http', 'ws')}/chat`)
      onTestFinished(() => socket.close())
      return socket
    }
    const [left, right] = [await connect(a), await connect(b)]
    await right.join(conversationId)
    await untilNext('chat')
    expect([left.closed, right.closed]).toEqual([undefined, undefined])
    expect((await left.sendMessage(conversationId, 'ما زلنا')).event).toBe('ack')
    await waitUntil('the message arrives', () => right.messages().length === 1)
    // New sockets now go to the second worker, which ends later.
    const later = await connect(a)
    for (const socket of [left, right]) {
      expect(await socket.waitForClose()).toEqual({ code: 1012, reason: 'connect again' })
    }
    expect(later.closed).toBeUndefined()
    expect((await later.sendMessage(conversationId, 'وهنا أيضا')).event).toBe('ack')
    const again = await connect(b)
    await again.join(conversationId, { afterSeq: 1 })
    await waitUntil('it goes on', () => again.messages().length === 1)
    expect(again.messages()[0].seq).toBe(2)
  })

  test('ends a socket at GATEWAY_MAX_AGE, before it ends itself', async ({ onTestFinished }) => {
    const { a } = await startConversation()
    const settings = { GATEWAY_MAX_AGE: '3' }
    const { url } = await workersWith(onTestFinished, { life: 600, settings })
    const socket = await ChatSocket.connect(a, `${url.replace('http', 'ws')}/chat`)
    expect(await socket.waitForClose()).toEqual({ code: 1012, reason: 'connect again' })
  })

  test('takes over from others, and no message of a conversation is lost or repeated', async ({ onTestFinished }) => {
    const { a, b, conversationId } = await startConversation()
    const { url, used } = await workersWith(onTestFinished, { life: 5 })
    const link = () => gateway({ url: `${url.replace('http', 'ws')}/chat` })
    const app = async (person: Person) => {
      const client = createClient({ url: projectUrl, accessToken: () => person.accessToken })
      const chat = createChat(client, { link: link() })
      onTestFinished(() => chat.close())
      const shown: Message[] = []
      chat.on('new_message', ({ message }) => shown.push(message))
      await chat.join(conversationId)
      return { chat, shown }
    }
    const apps = await Promise.all([a, b].map(app))
    let sent = 0
    const bodies: string[] = []
    await Promise.all(apps.map(async ({ chat }) => {
      while (used() < bulk(4, 3)) {
        const message = await chat.send({ conversationId, type: 'text', body: String(++sent) })
        bodies.push(message.body)
        await pause(100, 'any moment is right')
      }
    }))
    const stored = await wholeHistory(a, conversationId)
    expect(stored.map(({ seq }) => seq)).toEqual(upTo(sent))
    expect(stored.map(({ body }) => body).sort()).toEqual(bodies.sort())
    for (const { shown } of apps) {
      await waitUntil('all is shown', () => shown.length >= sent)
      expect(shown).toEqual(stored)
    }
  })
})
