// Workers of the edge functions as the platform keeps them: what lives on, what is dropped, and
// what the chat gateway and the facade make of it. They live for seconds here, so nothing runs
// beside it.
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createChat, gateway } from '../../client/src/chat/index.ts'
import { createClient } from '../../client/src/index.ts'
import type { Message } from '../../functions/chat/protocol.ts'
import { ChatSocket, upTo } from '../../test/support/chat-socket.ts'
import { type Person, projectUrl, signUp } from '../../test/support/client.ts'
import { hasStack } from '../../test/support/facade.ts'
import { type OwnWorkers, startWorkers } from '../../test/support/own-workers.ts'
import { waitUntil } from '../../test/support/wait.ts'
import { startConversation, wholeHistory } from '../../test/support/conversations.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function workersWith(choice: Parameters<typeof startWorkers>[0]): Promise<OwnWorkers> {
  const workers = await startWorkers(choice)
  ends.push(workers.stop)
  return workers
}

type Call = { path: string; response: ServerResponse; whole: boolean }

/** Somebody outside who notes what is asked, and answers after so many milliseconds. */
async function listener(after = 0) {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    const call = { path: request.url!, response, whole: false }
    calls.push(call)
    request.resume()
    response.on('close', () => (call.whole = response.writableFinished))
    setTimeout(() => response.end('{}'), after)
  }).listen(0, '127.0.0.1')
  ends.push(() => server.close().closeAllConnections())
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls }
}

/** A function that tells which worker answers, and what became of it. */
const probe = (outside: string) => `
  const worker = crypto.randomUUID()
  let seen = 0
  const tell = (what: string) => fetch('${outside}/' + what).then((answer) => answer.body?.cancel())
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
  Deno.serve(async (request: Request) => {
    const [, , what, ms] = new URL(request.url).pathname.split('/')
    const later = () => sleep(Number(ms)).then(() => tell(what!))
    if (what === 'waited') EdgeRuntime.waitUntil(later())
    if (what === 'forgotten') void later()
    if (what === 'asked') await later()
    if (what === 'thrown') {
      void Promise.reject(new Error('on purpose'))
      await sleep(60_000)
    }
    return Response.json({ worker, seen: ++seen })
  })
`

const probes = async (life: number, after = 0) => {
  const outside = await listener(after)
  const { url } = await workersWith({ life, functions: { probe: probe(outside.url) } })
  const ask = async (path = 'plain') => {
    const response = await fetch(`${url}/probe/${path}`)
    return { status: response.status, body: await response.json() }
  }
  return { ask, calls: outside.calls, url }
}

describe.runIf(hasStack)('a worker of an edge function', () => {
  test('takes requests for half of its lifetime, and then a new one starts unnoticed', async () => {
    const { ask } = await probes(2)
    const seen = new Map<string, number[]>()
    for (const end = Date.now() + 6000; Date.now() < end;) {
      const { status, body } = await ask()
      expect(status).toBe(200)
      seen.set(body.worker, [...seen.get(body.worker) ?? [], body.seen])
      await sleep(20)
    }
    expect(seen.size).toBeGreaterThan(2)
    for (const counts of seen.values()) expect(counts).toEqual(upTo(counts.length))
  })

  test('is dropped at half of its lifetime, unless waitUntil keeps it', async () => {
    const { ask, calls } = await probes(6)
    // The first: it comes with the worker's life. Both are due after its half.
    await Promise.all([ask('waited/4000'), ask('plain')])
    await waitUntil('it is finished', () => calls.length === 1)
    expect(calls[0]!.path).toBe('/waited')
    const { body: { worker } } = await ask('forgotten/4000')
    await sleep(5000)
    expect((await ask()).body.worker).not.toBe(worker)
    expect(calls.length).toBe(1)
  })

  test('finishes requests that came in the first half of its lifetime', async () => {
    const { ask, calls } = await probes(6)
    const asked = ask('asked/4000')
    await sleep(3500)
    const other = await ask()
    const first = await asked
    expect(first.status).toBe(200)
    expect(first.body.worker).not.toBe(other.body.worker)
    expect(calls.map(({ path }) => path)).toEqual(['/asked'])
  })

  test('ends with its lifetime in any case: 546 for unanswered requests', async () => {
    const { ask, calls } = await probes(2)
    const late = ask('asked/60000')
    expect((await ask('waited/60000')).status).toBe(200)
    expect(await late).toMatchObject({ status: 546, body: { code: 'WORKER_LIMIT' } })
    expect((await ask()).body.seen).toBe(1)
    expect(calls).toEqual([])
  })

  test('dies of an unhandled rejection, alone', async () => {
    const { ask } = await probes(60)
    expect(await ask('thrown')).toMatchObject({ status: 500, body: { code: 'WORKER_ERROR' } })
    expect(await ask()).toMatchObject({ status: 200, body: { seen: 1 } })
  })

  test('exists only for existing functions: 404 for others, 503 for one that fails to start', async () => {
    const { url } = await workersWith({ life: 60, functions: { broken: 'throw new Error("no")' } })
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
    const response = await fetch(`${url}/broken`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await response.json()).toMatchObject({ code: 'BOOT_ERROR', retryAfter: 1 })
  })
})

describe.runIf(hasStack)('the facade in a worker', () => {
  test('finishes sending a code after the answer', async () => {
    // It waits four seconds for those who send.
    const inbox = await listener(3000)
    const { url } = await workersWith({ life: 5.5, settings: { INBOX_URL: inbox.url } })
    const { identifier } = await signUp()
    const response = await fetch(`${url}/api/auth/password/forgot`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier }),
    })
    expect(response.status).toBe(202)
    await waitUntil('it is on its way', () => inbox.calls.length === 1)
    await waitUntil('it is over', () => inbox.calls[0]!.response.closed)
    expect(inbox.calls[0]!.whole).toBe(true)
  })
})

describe.runIf(hasStack)('chat in a worker', () => {
  const life = 8

  test('keeps a socket past half of the lifetime, and ends it with the worker, with 1012', async () => {
    const { a, b, conversationId } = await startConversation()
    const { url } = await workersWith({ life })
    const chat = `${url.replace('http', 'ws')}/chat`
    const left = await ChatSocket.connect(a, chat)
    const right = await ChatSocket.connect(b, chat)
    ends.push(() => left.close(), () => right.close())
    await right.join(conversationId)
    await sleep(life * 500 + 500)
    expect([left.closed, right.closed]).toEqual([undefined, undefined])
    expect((await left.sendMessage(conversationId, 'ما زلنا')).event).toBe('ack')
    await waitUntil('the message arrives', () => right.messages().length === 1)
    // Beside them there is another worker by now, which has its own end.
    const later = await ChatSocket.connect(a, chat)
    ends.push(() => later.close())
    for (const socket of [left, right]) {
      expect(await socket.waitForClose()).toEqual({ code: 1012, reason: 'connect again' })
    }
    expect(later.closed).toBeUndefined()
    expect((await later.sendMessage(conversationId, 'وهنا أيضا')).event).toBe('ack')
    const again = await ChatSocket.connect(b, chat)
    ends.push(() => again.close())
    await again.join(conversationId, { afterSeq: 1 })
    await waitUntil('it goes on', () => again.messages().length === 1)
    expect(again.messages()[0].seq).toBe(2)
  })

  test('ends a socket at GATEWAY_MAX_AGE, before the worker does', async () => {
    const { a } = await startConversation()
    const { url } = await workersWith({ life: 60, settings: { GATEWAY_MAX_AGE: '3' } })
    const socket = await ChatSocket.connect(a, `${url.replace('http', 'ws')}/chat`)
    expect(await socket.waitForClose()).toEqual({ code: 1012, reason: 'connect again' })
  })

  test('loses and repeats no message of a conversation through many workers', async () => {
    const { a, b, conversationId } = await startConversation()
    const { url } = await workersWith({ life })
    const link = () => gateway({ url: `${url.replace('http', 'ws')}/chat` })
    const app = async (person: Person) => {
      const client = createClient({ url: projectUrl, accessToken: () => person.accessToken })
      const chat = createChat(client, { link: link() })
      ends.push(() => chat.close())
      const shown: Message[] = []
      chat.on('new_message', ({ message }) => shown.push(message))
      await chat.join(conversationId)
      return { chat, shown }
    }
    const apps = await Promise.all([a, b].map(app))
    let sent = 0
    const bodies: string[] = []
    await Promise.all(apps.map(async ({ chat }) => {
      for (const end = Date.now() + 3 * life * 1000; Date.now() < end;) {
        const message = await chat.send({ conversationId, type: 'text', body: String(++sent) })
        bodies.push(message.body)
        await sleep(100)
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
