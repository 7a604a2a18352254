import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer } from 'node:net'
import { expect, test } from 'vitest'
import { isHeld, lateAnswers } from './late-answers.ts'

test('what is held back comes whole and in order, also where it is more than a socket takes', async () => {
  const hold = lateAnswers(3)
  let held = 0
  const text = 'محتوى'.repeat(50_000)
  const server = createServer((request, response) => {
    hold(request.socket)
    if (isHeld(request.socket)) held++
    if (request.url === '/whole') return void response.end(text)
    response.write(text.slice(0, 10))
    response.end(text.slice(10))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    for (let round = 0; round < 20; round++) {
      const answers = ['whole', 'pieces', 'whole', 'pieces', 'whole'].map(async (path) =>
        await (await fetch(`${url}/${path}`)).text()
      )
      for (const answer of await Promise.all(answers)) expect(answer === text).toBe(true)
    }
    expect(held).toBeGreaterThan(0)
    expect(held).toBeLessThan(20)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('what is sent over one connection stays in its order', async () => {
  const hold = lateAnswers(5)
  const lines = Array.from({ length: 500 }, (_, nth) => `${nth}\n`)
  const server = createSocketServer(async (socket) => {
    for (const line of lines) {
      hold(socket)
      socket.write(line)
      await new Promise(setImmediate)
    }
    socket.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let heard = ''
  for await (const piece of client) heard += piece
  expect(heard).toBe(lines.join(''))
  server.close()
})

test('without a seed nothing is held back', () => {
  const hold = lateAnswers(undefined)
  const socket = connect(1, '127.0.0.1').on('error', () => {})
  for (let nth = 0; nth < 1000; nth++) hold(socket)
  expect(isHeld(socket)).toBe(false)
  socket.destroy()
})
