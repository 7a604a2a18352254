// The first day of two people with an app that is built on the installed package alone. It runs in Node, in
// Deno and in a browser; `World` contains the differences between them.
import {
  type Client,
  createClient,
  isApiError,
  newId,
  type Picture,
  type Storage,
} from 'kuwait-property-client'
import { type Chat, createChat } from 'kuwait-property-client/chat'

export type World = {
  url: string
  owner: string
  buyer: string
  word: string
  pictures: Picture[]
  storageOf(phone: string): Storage
  codeFor(phone: string): Promise<string>
  payAt(page: string): Promise<void>
}

export async function firstDay(world: World) {
  const owner = await register(world, world.owner, 'سالم العنزي')
  const buyer = await register(world, world.buyer, 'فهد المطيري')

  const { listing, progress } = await publish(world, owner)
  const found = await search(world, buyer)
  const { isFavorite } = await buyer.post('/favorites/{propertyId}', {
    path: { propertyId: listing.id },
  })
  const favorites = (await buyer.get('/favorites/ids')).ids

  const said = await talk(owner, buyer, listing.id)
  const paid = await pay(world, owner)
  const notified = await notifications(owner, 2)

  const refused = await codeOf(buyer.get('/properties/{id}', { path: { id: newId() } }))
  const again = await clientOf(world, world.owner).auth.session()
  await owner.auth.signOut()
  await buyer.auth.signOut()
  return {
    phone: again?.user.phone,
    pictures: listing.media.length,
    progress,
    found: found.map((id) => id === listing.id),
    isFavorite,
    favorites: favorites.map((id) => id === listing.id),
    said,
    paid,
    notified,
    refused,
    afterwards: await codeOf(owner.get('/auth/me')),
  }
}

const clientOf = ({ url, storageOf }: World, phone: string) =>
  createClient({ url, storage: storageOf(phone) })

async function register(world: World, identifier: string, fullName: string): Promise<Client> {
  const client = clientOf(world, identifier)
  const started = await client.auth.register({ identifier, password: newId(), fullName })
  if (started.status !== 'awaiting_otp') throw new Error('a code was to come')
  const { registrationId } = started
  const code = await world.codeFor(identifier)
  await client.auth.verify({ identifier, code, registrationId })
  return client
}

async function publish({ pictures, word }: World, owner: Client) {
  const uploadSessionId = newId()
  let progress = 0
  const { files } = await owner.upload.pictures(pictures, {
    uploadSessionId,
    onProgress: (part) => (progress = part),
  })
  if (!files.every(({ ok }) => ok)) throw new Error('a picture is not good')
  const listing = await owner.post('/properties', {
    body: {
      type: 'SALE',
      kind: 'house',
      titleAr: `بيت للبيع ${word}`,
      price: 285_000,
      landAreaM2: 400,
      areaId: 'salmiya',
      uploadSessionId,
      publish: true,
    },
  })
  return { listing, progress }
}

async function search({ word }: World, buyer: Client): Promise<string[]> {
  const ids: string[] = []
  for await (const card of buyer.list('/search', { query: { q: word, areaIds: ['salmiya'] } })) {
    ids.push(card.id)
  }
  return ids
}

async function talk(owner: Client, buyer: Client, propertyId: string) {
  const { id: conversationId } = await buyer.post('/conversations', { body: { propertyId } })
  const sides = [owner, buyer].map((client) => {
    const chat = createChat(client)
    const seen: string[] = []
    chat.on('new_message', ({ message }) => seen.push(message.body))
    return { chat, seen }
  })
  await Promise.all(sides.map(({ chat }) => chat.join(conversationId)))
  const say = (chat: Chat | undefined, body: string) => chat?.send({ conversationId, body })
  await say(sides[1]?.chat, 'هل البيت متاح؟')
  await say(sides[0]?.chat, 'نعم متاح')
  await say(sides[1]?.chat, 'اتفقنا')
  await until(() => sides.every(({ seen }) => seen.length === 3))
  for (const { chat } of sides) chat.close()
  return sides.map(({ seen }) => seen)
}

async function pay({ url, payAt }: World, owner: Client) {
  const { id: invoiceId } = await owner.post('/wallet/topup', { body: { amount: 20 } })
  const { redirectUrl } = await owner.post('/payments/charge', {
    body: { invoiceId, returnUrl: `${url}/functions/v1/api/sandbox/done` },
  })
  await payAt(redirectUrl)
  const path = { invoiceId }
  await until(async () =>
    (await owner.get('/payments/status/{invoiceId}', { path })).state === 'paid'
  )
  return (await owner.get('/wallet')).available
}

async function notifications(client: Client, count: number): Promise<string[]> {
  const kinds = new Set<string>()
  await until(async () => {
    for await (const { kind } of client.list('/notifications')) kinds.add(kind)
    return kinds.size >= count
  })
  return [...kinds].sort()
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'none'
  } catch (error) {
    if (!isApiError(error)) throw error
    // With `satisfies` the compiler checks that the code narrows the type of the details.
    if (error.code === 'quota_exceeded') return `over ${error.details.limit satisfies number}`
    return error.code
  }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 100))
}
