// The client in React Native, where it may use fetch, WebSocket, timers and forms, but no other web API.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { build } from 'rolldown'
import { expect, test } from 'vitest'
import type * as chatModule from '../../client/src/chat/index.ts'
import type * as clientModule from '../../client/src/index.ts'
import { projectUrl, signUp } from '../support/client.ts'
import { conversationBetween } from '../support/conversations.ts'
import { publishListing, uniquePrice } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { waitUntil } from '../support/wait.ts'
import { nativeForms } from './native.ts'

const globals = {
  fetch,
  WebSocket,
  FormData,
  AbortController,
  console,
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
}

type Kit = typeof clientModule & typeof chatModule

/** Bundles the modules for Hermes and runs them in a context with only these globals. */
async function kitIn(globals: object): Promise<Kit> {
  const folder = mkdtempSync(join(tmpdir(), 'react-native-'))
  const input = join(folder, 'app.ts')
  const source = new URL('../../client/src/', import.meta.url).pathname
  writeFileSync(input, `export * from '${source}index.ts'\nexport * from '${source}chat/index.ts'`)
  const { output: [{ code }] } = await build({
    input,
    write: false,
    transform: { target: 'es2020' },
    output: { format: 'iife', name: 'kit' },
  })
  rmSync(folder, { recursive: true })
  // The script's `var kit` becomes a property of this global object.
  const context = { ...globals }
  runInNewContext(code, context)
  return (context as typeof context & { kit: Kit }).kit
}

test('it asks for nothing that React Native has not', async () => {
  const { createClient, createChat, listOf, newId } = await kitIn(globals)
  const [owner, buyer] = [await signUp(), await signUp()]
  const price = uniquePrice()
  const { id } = await publishListing(owner, { price })

  const client = createClient({ url: projectUrl })
  await client.auth.signIn({ identifier: buyer.identifier, password: buyer.password })
  const pages = client.list('/search', { query: { priceMin: price, areaIds: ['salmiya'] } }).pages()
  expect((await pages.next()).value.items).toContainEqual(expect.objectContaining({ id }))
  const list = listOf((cursor) => client.get('/favorites', { query: { cursor } }))
  expect(await list.next()).toEqual({ value: undefined, done: true })
  const picture = new Blob([new Uint8Array(jpeg({ width: 64, height: 64 }))])
  expect((await client.upload.avatar(picture)).width).toBe(64)

  const conversationId = await conversationBetween(owner, buyer)
  const chat = createChat(client)
  const seen: string[] = []
  chat.on('new_message', ({ message }) => seen.push(message.body))
  await chat.join(conversationId)
  await chat.send({ conversationId, body: 'مرحباً' })
  await waitUntil('it is seen', () => seen.length === 1)
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  await client.auth.signOut()
  await expect(chat.send({ conversationId, body: 'بعد' })).rejects.toMatchObject({
    code: 'connection',
  })
})

test('pictures go up by their addresses, in a form of React Native', async () => {
  const files = new Map([
    ['file:///house.jpg', new Uint8Array(jpeg({ width: 640, height: 480 }))],
    ['content://media/7', new Uint8Array(jpeg({ width: 480, height: 640, shade: 40 }))],
  ])
  const { sent, globals: native } = nativeForms(files)
  const { createClient, newId } = await kitIn({ ...globals, ...native })
  const owner = await signUp()
  const client = createClient({ url: projectUrl })
  await client.auth.signIn({ identifier: owner.identifier, password: owner.password })

  const house = { uri: 'file:///house.jpg', name: 'house.jpg', type: 'image/jpeg' }
  const garden = { uri: 'content://media/7', name: 'حديقة 7.jpg', type: 'image/jpeg' }
  expect(await client.upload.avatar(house)).toMatchObject({ width: 640, height: 480 })

  const uploadSessionId = newId()
  let progress = 0
  const onProgress = (part: number) => (progress = part)
  const options = { uploadSessionId, onProgress }
  const { files: taken } = await client.upload.pictures([house, garden], options)
  expect(taken).toMatchObject([{ index: 0, ok: true }, { index: 1, ok: true }])
  expect(progress).toBe(1)
  expect(sent).toMatchObject([
    { by: 'fetch', parts: [{ uri: house.uri }] },
    {
      by: 'XMLHttpRequest',
      parts: [{ string: uploadSessionId }, { uri: house.uri }, { uri: garden.uri }],
    },
  ])
  const listing = await client.post('/properties', {
    body: {
      type: 'SALE',
      kind: 'house',
      titleAr: 'بيت للبيع في السالمية',
      price: 285_000,
      landAreaM2: 400,
      areaId: 'salmiya',
      uploadSessionId,
    },
  })
  expect(listing.media.map(({ width, height }) => [width, height])).toEqual([
    [640, 480],
    [480, 640],
  ])

  await expect(client.upload.avatar({ ...house, uri: 'file:///gone.jpg' })).rejects.toMatchObject({
    code: 'connection',
  })
})
