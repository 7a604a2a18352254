// A TCP proxy in front of Postgres that counts the clients' messages and can hold back the responses.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

// Only messages that Postgres answers with ReadyForQuery count: simple query, sync, function call.
const asks = new Set('QSF'.split('').map((letter) => letter.charCodeAt(0)))

/** Returns a reader for one client's connection that calls `count` for each such message. */
function messageCounter(count: (text: string) => void) {
  let rest: Buffer = Buffer.alloc(0)
  let started = false
  return (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const typed = started ? 1 : 0
      if (rest.length < typed + 4) return
      const length = rest.readInt32BE(typed) + typed
      if (rest.length < length) return
      if (started && asks.has(rest[0]!)) count(rest.toString('utf8', 5, Math.min(length, 2000)))
      // A TLS request looks like a startup message; the real one follows it.
      else if (!started && rest.readInt32BE(4) !== 80_877_103) started = true
      rest = rest.subarray(length)
    }
  }
}

export async function startCountingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const messages: string[] = []
  const answers = new Set<Socket>()
  let held = false
  let most = 0
  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname)
    const read = messageCounter((text) => messages.push(text))
    client.on('data', (chunk: Buffer) => {
      read(chunk)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => client.write(chunk))
    answers.add(upstream)
    most = Math.max(most, answers.size)
    if (held) upstream.pause()
    client.on('close', () => upstream.destroy()).on('error', () => {})
    upstream.on('close', () => {
      answers.delete(upstream)
      client.destroy()
    }).on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    connections: () => answers.size,
    most: () => most,
    takeMessages: () => messages.splice(0),
    hold: () => {
      held = true
      for (const upstream of answers) upstream.pause()
    },
    release: () => {
      held = false
      for (const upstream of answers) upstream.resume()
    },
    stop: () => server.close(),
  }
}
