// The client where there is little: React Native has fetch and WebSocket, timers and forms, and of
// the rest of the web nothing that one may rely on.
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

/** The modules as a bundler for Hermes leaves them, in an engine that has no more than this. */
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
  // A `var` of a script is a property of its global object.
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
