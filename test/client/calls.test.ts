import { afterEach, expect, test } from 'vitest'
import { createClient, isApiError, listOf, pictureIn } from '../../client/src/index.ts'
import { signUpAdmin } from '../support/admins.ts'
import { signUp } from '../support/client.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { publishListing, uniquePrice } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { pdf } from '../support/pdf.ts'
import { pause, waitUntil } from '../support/wait.ts'
import { problem, type Said, service, signedIn, watchedClient } from './support.ts'

const ends: (() => void)[] = []
afterEach(() => ends.splice(0).forEach((end) => end()))

async function clientOf(...answers: Said[]) {
  const { url, requests, close } = await service(...answers)
  ends.push(close)
  // If the service never responds, the client gives up after a second.
  const timeout = answers[0] === 'silence' ? 1000 : 240_000
  return { client: createClient({ url, timeout }), requests }
}

const busy: Said = [503, problem('service_unavailable', { retryAfter: 1 })]
const wallet: Said = [200, { available: 1, held: 0, currency: 'KWD' }]

test.each<[string, Said]>([
  ['the connection broke', 'cut'],
  ['nothing answered', 'silence'],
  ['the service was busy', busy],
  ['something in between answered', [502, '<html>Bad Gateway</html>']],
])('a GET is sent again when %s', async (_what, first) => {
  const { client, requests } = await clientOf(first, wallet)
  expect((await client.get('/wallet')).available).toBe(1)
  // On a slow machine the second attempt may time out, too.
  if (first === 'silence') expect(requests.length).toBeGreaterThan(1)
  else expect(requests).toHaveLength(2)
})

test('a GET is sent three times at most, or as often as the app wants', async () => {
  const { client, requests } = await clientOf('cut')
  await expect(client.get('/wallet')).rejects.toMatchObject({ code: 'connection', status: 0 })
  expect(requests).toHaveLength(3)
  await expect(client.get('/wallet', { retries: 0 })).rejects.toMatchObject({ code: 'connection' })
  expect(requests).toHaveLength(4)
})

test.each<[string, Said]>([
  ['of the service', busy],
  ['of something in between', [503, 'busy', { 'retry-after': '1' }]],
])('Retry-After %s is kept to', async (_whose, first) => {
  const { client, requests } = await clientOf(first, wallet)
  await client.get('/wallet')
  expect(requests[1]!.at - requests[0]!.at).toBeGreaterThanOrEqual(990)
})

test('who should wait for long is told at once', async () => {
  const { client, requests } = await clientOf([429, problem('rate_limited', { retryAfter: 3600 })])
  await expect(client.get('/wallet')).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfter: 3600,
    temporary: true,
  })
  expect(requests).toHaveLength(1)
})

test('a POST that moves money is sent again under the same key', async () => {
  const { client, requests } = await clientOf('cut', busy, [201, { id: 'x' }])
  await client.post('/wallet/topup', { body: { amount: 5 } })
  expect(requests).toHaveLength(3)
  expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
  expect(requests[0]!.key).toMatch(/^[0-9a-f-]{36}$/)
  await client.post('/wallet/topup', { body: { amount: 5 } })
  expect(requests[3]!.key).not.toBe(requests[0]!.key)
  await client.post('/wallet/topup', { body: { amount: 5 }, idempotencyKey: 'mine' })
  expect(requests[4]!.key).toBe('mine')
})

test('what might be done twice is not sent again', async () => {
  const { client, requests } = await clientOf(busy)
  const path = { propertyId: crypto.randomUUID() }
  await expect(client.post('/favorites/{propertyId}', { path })).rejects.toMatchObject({
    code: 'service_unavailable',
  })
  await expect(client.delete('/properties/{id}', { path: { id: path.propertyId } })).rejects
    .toMatchObject({ code: 'service_unavailable' })
  expect(requests.map(({ key }) => key)).toEqual([undefined, undefined])
})

test('a refusal says what was wrong, in the language of the app', async () => {
  const { client } = await signedIn(await signUp(), { language: 'en' })
  const error = await client.post('/properties', {
    body: { type: 'SALE', titleAr: 'ب', publish: true },
  })
    .catch((thrown) => thrown)
  if (!isApiError(error)) throw error
  expect(error).toMatchObject({ code: 'validation_failed', status: 422 })
  expect(error.message).toBe(error.messageEn)
  expect(error.fields.map(({ path }) => path)).toContain('titleAr')
  expect(error.requestId).toEqual(expect.any(String))
  expect(error.temporary).toBe(false)
})

test('every call names the region, and has the headers of the app', async () => {
  const { client, headers } = await signedIn(await signUp(), {
    region: 'eu-central-1',
    headers: { 'X-Client-Info': 'app/1', Authorization: 'Basic of something in between' },
  })
  await client.get('/wallet')
  await client.get('/wallet', { headers: { 'x-region': 'me-central-1' } })
  await client.auth.signOut()
  expect(headers.map((sent) => [sent['x-region'], sent['x-client-info']])).toEqual([
    ['eu-central-1', 'app/1'],
    ['eu-central-1', 'app/1'],
    ['me-central-1', 'app/1'],
    ['eu-central-1', 'app/1'],
  ])
  expect(headers.map((sent) => sent.authorization?.split(' ')[0]))
    .toEqual(['Basic', 'Bearer', 'Bearer', 'Bearer'])
})

test('a call is cancelled on its way, and while it waits for the next try', async () => {
  const { url, requests, close } = await service('silence')
  ends.push(close)
  const client = createClient({ url })
  const cancelled = { name: 'AbortError' }
  const cancel = new AbortController()
  const sent = client.get('/wallet', { signal: cancel.signal })
  void waitUntil('it is on its way', () => requests.length === 1).then(() => cancel.abort())
  await expect(sent).rejects.toMatchObject(cancelled)
  expect(requests).toHaveLength(1)
  await expect(client.get('/wallet', { signal: cancel.signal })).rejects.toMatchObject(cancelled)
  expect(requests).toHaveLength(1)

  const other = await clientOf([503, problem('service_unavailable', { retryAfter: 30 })])
  const waiting = new AbortController()
  const call = other.client.get('/wallet', { signal: waiting.signal })
  void waitUntil('it was asked', () => other.requests.length === 1)
    // By this time the call usually waits before its second attempt.
    .then(() => pause(300, 'any moment is right')).then(() => waiting.abort())
  await expect(call).rejects.toMatchObject(cancelled)
  expect(other.requests).toHaveLength(1)
})

test('a list gives every item once, its pages one after another', async () => {
  const owner = await signUp()
  const price = uniquePrice()
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    ids.push((await publishListing(owner, { price })).id)
  }
  const { client, requests } = watchedClient()
  const query = { priceMin: price, priceMax: price, limit: 2 }
  const found: string[] = []
  for await (const { id } of client.list('/search', { query })) found.push(id)
  expect(found).toEqual(ids.toReversed())
  expect(requests).toHaveLength(3)

  // Requests each page without waiting for the previous one, as a screen does when scrolled fast.
  const pages = client.list('/search', { query }).pages()
  const shown = await Promise.all([pages.next(), pages.next(), pages.next(), pages.next()])
  expect(shown.map(({ value }) => value?.items.length)).toEqual([2, 2, 1, undefined])
  expect(requests).toHaveLength(6)

  for await (const _card of client.list('/search', { query })) break
  expect(requests).toHaveLength(7)

  const advanced = listOf((cursor) =>
    client.post('/search/advanced', { body: { ...query, strategy: 'standard', cursor } })
  )
  const same: string[] = []
  for await (const { id } of advanced) same.push(id)
  expect(same).toEqual(found)
})

test('an upload says how far it is, and can be cancelled', async () => {
  const { client } = await signedIn(await signUp())
  const picture = new Blob([new Uint8Array(jpeg({ width: 2000, height: 1500 }))])
  const parts: number[] = []
  const { mediaId } = await client.upload.avatar(picture, {
    onProgress: (part) => parts.push(part),
  })
  expect(mediaId).toEqual(expect.any(String))
  expect(parts).toEqual(parts.toSorted((one, other) => one - other))
  expect(parts.at(-1)).toBe(1)

  const cancel = new AbortController()
  const uploaded = client.upload.avatar(picture, {
    signal: cancel.signal,
    onProgress: () => cancel.abort(),
  })
  await expect(uploaded).rejects.toMatchObject({ name: 'AbortError' })
  const bad = client.upload.avatar(new Blob(['text']))
  await expect(bad).rejects.toMatchObject({ code: 'file_not_image', status: 415 })
})

test('a list that is asked for as CSV comes as a file', async () => {
  const { client } = await signedIn(await signUpAdmin())
  const headers = { accept: 'text/csv' }
  const query = { outcome: 'ignored' } as const
  const file: unknown = await client.get('/admin/payments/events', { query, headers })
  expect(file).toBeInstanceOf(Blob)
  // Blob.text() removes the UTF-8 byte order mark.
  expect(await (file as Blob).text()).toMatch(/^"id","provider",/)
})

test('documents go up, are listed, and come down as files', async () => {
  const person = await signUp()
  const identityId = await insertWaitingCompany(person.id)
  const { client } = await signedIn(person)
  const licence = pdf('licence')
  const photo = jpeg({ width: 8, height: 8 })
  const files = [licence, photo].map((bytes) => new Blob([new Uint8Array(bytes)]))
  const uploaded = await client.upload.documents(files, { identityId })
  expect(uploaded.files.map(({ ok }) => ok)).toEqual([true, true])

  const path = { identityId }
  const { items } = await client.get('/auth/identities/{identityId}/documents', { path })
  expect(items.map(({ id }) => id)).toEqual(uploaded.files.map(({ documentId }) => documentId))
  const one = '/auth/identities/{identityId}/documents/{documentId}'
  const [first, second] = await Promise.all(
    items.map(({ id: documentId }) => client.get(one, { path: { identityId, documentId } })),
  )
  expect(Buffer.from(await first!.arrayBuffer()).equals(licence)).toBe(true)
  expect([first!.type, second!.type]).toEqual(['application/pdf', 'image/jpeg'])

  const gone = { path: { identityId, documentId: items[0]!.id } }
  await client.delete(one, gone)
  await expect(client.get(one, gone)).rejects.toMatchObject({ code: 'document_not_found' })
  await expect(client.upload.documents([new Blob(['text'])], { identityId })).rejects
    .toMatchObject({ code: 'file_not_document', status: 415 })
})

test('a picture has an address for each width, where sizes are made', async () => {
  const { client } = await signedIn(await signUp())
  const { url } = await client.upload.avatar(
    new Blob([new Uint8Array(jpeg({ width: 64, height: 64 }))]),
  )
  const { picture } = await client.get('/meta/app')
  expect(pictureIn(100, url, { ...picture, url: null })).toBe(url)
  const made = { ...picture, url: 'https://img.example/width={w}/{path}' }
  const path = url.slice(picture.files.length)
  expect(path).toMatch(/^avatars\/[\w/-]+\.jpg$/)
  for (const [width, taken] of [[1, 160], [160, 160], [161, 320], [5000, 1920]] as const) {
    expect(pictureIn(width, url, made)).toBe(`https://img.example/width=${taken}/${path}`)
  }
  const elsewhere = 'https://lh3.example/photo.jpg'
  expect(pictureIn(320, elsewhere, made)).toBe(elsewhere)
})
