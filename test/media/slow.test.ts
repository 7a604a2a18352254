import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { baseUrl, type Person, signUp } from '../support/client.ts'
import { jpeg, pngOf } from '../support/pictures.ts'
import { filePart, rawForm, uploadAvatar, uploadPictures } from '../support/uploads.ts'

const picture = jpeg({ width: 40, height: 30 })
const opened: (() => void)[] = []

afterAll(() => {
  for (const close of opened) close()
})

/**
 * Begins an upload of 9 MB over its own connection: sends the `first` bytes, then one byte every `everyMs`.
 */
function trickle({ accessToken }: Person, first: number, everyMs: number) {
  const { hostname, port, pathname } = new URL(`${baseUrl}/media/upload/listings`)
  const { body, headers } = rawForm([
    filePart('files', 'filename="a.png"', Buffer.concat([pngOf(1_000_000), Buffer.alloc(8e6)])),
  ])
  const socket = connect(Number(port), hostname)
  let said = ''
  socket.on('data', (data) => (said += data))
  socket.on('error', () => {})
  socket.write(
    `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n` +
      `Authorization: Bearer ${accessToken}\r\nContent-Type: ${headers['content-type']}\r\n` +
      `Content-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body.subarray(0, first))
  let at = first
  const timer = setInterval(() => {
    if (!socket.destroyed) socket.write(body.subarray(at, ++at))
  }, everyMs)
  opened.push(() => {
    clearInterval(timer)
    socket.destroy()
  })
  return {
    said: () => said,
    ended: new Promise<string>((end) => socket.on('close', () => end(said))),
  }
}

test('PR-22 eighteen slow connections of one account delay nobody else', async () => {
  const [slow, other] = [await signUp(), await signUp()]
  const connections = Array.from({ length: 18 }, () => trickle(slow, 1000, 1000))
  for (let round = 0; round < 3; round++) {
    expect((await uploadPictures(other, [picture, pngOf(9_000_000)])).status).toBe(201)
    expect((await uploadAvatar(other, picture)).status).toBe(201)
  }
  // None of the slow uploads has succeeded yet.
  expect(connections.filter(({ said }) => said().includes(' 201 '))).toEqual([])
})

test.concurrent.each([
  ['a byte a second', 1000, 1000],
  ['ten bytes a second', 1000, 100],
  ['a great deal at once and then a byte a second', 8_000_000, 1000],
])('MED-02 PR-22 an upload that sends %s ends with 408', async (_, first, everyMs) => {
  const owner = await signUp()
  const said = await trickle(owner, first, everyMs).ended
  expect(said).toMatch(/^HTTP\/1.1 408 /)
  expect(said).toContain('upload_timeout')
  expect((await uploadAvatar(owner, picture)).status).toBe(201)
})

test.concurrent('an account with slow uploads gets its next one when they have ended', async () => {
  const owner = await signUp()
  const slow = [0, 1].map(() => trickle(owner, 1000, 1000))
  expect((await uploadAvatar(owner, picture)).status).toBe(201)
  for (const { ended } of slow) expect(await ended).toMatch(/^HTTP\/1.1 408 /)
})

test('MED-07 many uploads of one account at once are all accepted, one after another', async () => {
  const owner = await signUp()
  const replies = await Promise.all(Array.from({ length: 20 }, () => uploadAvatar(owner, picture)))
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(201))
})
