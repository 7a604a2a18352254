import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { expect, test } from 'vitest'
import { openInbox } from './server.ts'

test('the inbox rejects an invalid request target, and goes on', async () => {
  const inbox = openInbox().listen(0, '127.0.0.1')
  await once(inbox, 'listening')
  const { port } = inbox.address() as AddressInfo
  const socket = connect(port, '127.0.0.1')
  socket.write('GET //[ HTTP/1.1\r\nHost: inbox\r\nConnection: close\r\n\r\n')
  const [answer] = await once(socket, 'data')
  expect(answer.toString()).toMatch(/^HTTP\/1.1 400 /)
  expect(await (await fetch(`http://127.0.0.1:${port}/messages`)).json()).toEqual([])
  inbox.close()
})
