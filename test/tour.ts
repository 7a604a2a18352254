// npm run tour: the main job against a running stack, one step per line with what was sent and what
// came. Stops with exit code 1 at the first thing that is not as the contract says.
//
//   npm run tour                          the stack of this folder (LOCAL_DATA, else .local)
//   npm run tour -- --url https://…       another project; INBOX_URL and DATABASE_URL in the environment
import { randomInt, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import pg from 'pg'

// deno-lint-ignore no-explicit-any
type Json = any
type Answer = { status: number; body: Json }

class Wrong extends Error {}

const { url, inboxUrl, databaseUrl } = project()
let token: string | undefined
let steps = 0

function project() {
  const given = parseArgs({ options: { url: { type: 'string' } } }).values.url
  const { INBOX_URL: inboxUrl, DATABASE_URL: databaseUrl } = process.env
  if (given) return { url: given.replace(/\/$/, ''), inboxUrl, databaseUrl }
  const root = fileURLToPath(new URL('..', import.meta.url))
  const file = join(root, process.env.LOCAL_DATA ?? '.local', 'stack.json')
  const absolute = join(process.env.LOCAL_DATA ?? '', 'stack.json')
  const found = [file, absolute].find(existsSync)
  if (!found) stop('No stack is running here: type npm start in another window, or give --url.')
  return JSON.parse(readFileSync(found!, 'utf8'))
}

function stop(sentence: string): never {
  console.error(`\n  ✗ ${sentence}`)
  process.exit(1)
}

/** Cuts what was sent or came to what fits on a line. */
function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > 150 ? `${text.slice(0, 147)}…` : text
}

/** Sends a request and shows it; fails unless the answer has that status. */
async function ask(method: string, path: string, sent?: unknown, status = 200): Promise<Answer> {
  const response = await fetch(`${url}/functions/v1/api${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(sent !== undefined && { 'content-type': 'application/json' }),
    },
    body: sent === undefined ? undefined : JSON.stringify(sent),
  })
  const text = await response.text()
  const body = text ? JSON.parse(text) : null
  const shown = sent === undefined ? '' : ` ${brief(hidden(sent))}`
  console.log(`     ${method} ${decodeURIComponent(path)}${shown}`)
  console.log(`       ${response.status} ${brief(hidden(summary(body)))}`)
  if (response.status !== status) throw new Wrong(`${status} was to come, not ${response.status}`)
  return { status: response.status, body }
}

const secret = /password|token/i

/** The same without passwords and tokens: what a tour shows may be looked at by others. */
function hidden(value: Json): Json {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [key, secret.test(key) ? '…' : one]),
  )
}

/** Of a page its titles, of a listing what one reads first. */
function summary(body: Json): Json {
  if (Array.isArray(body?.items)) {
    const { items, ...rest } = body
    const names = items.map((item: Json) => item.titleAr ?? item.nameAr ?? item.price ?? item.id)
    return { ...rest, items: items.length, first: names.slice(0, 2) }
  }
  if (body?.refNo) {
    const { refNo, status, titleAr, priceLabel } = body
    return { refNo, status, titleAr, priceLabel }
  }
  return body
}

function must(holds: unknown, sentence: string) {
  if (!holds) throw new Wrong(sentence)
}

async function step(name: string, work: () => Promise<void>) {
  console.log(`\n${String(++steps).padStart(2)}.  ${name}`)
  try {
    await work()
  } catch (error) {
    if (error instanceof Wrong) stop(`Step ${steps}, ${name}: ${error.message}.`)
    stop(`Step ${steps}, ${name}: ${(error as Error).message}`)
  }
}

const ids = (body: Json): string[] => body.items.map((item: Json) => item.id)
const password = randomUUID()
const phone = `5${randomInt(10_000_000).toString().padStart(7, '0')}`
const email = `tour-${randomUUID()}@example.com`
const word = `جولة${randomInt(1_000_000_000)}` // a word that only this tour's listings have

async function codeFor(address: string): Promise<string> {
  for (let tries = 0; tries < 50; tries++) {
    const response = await fetch(`${inboxUrl}/messages?to=${encodeURIComponent(address)}`)
    const [message] = await response.json()
    if (message) {
      console.log(`     inbox: ${message.body.replaceAll('\n', ' · ')}`)
      return message.code
    }
    await sleep(100)
  }
  throw new Wrong(`no code came to ${address}`)
}

/** What an admin does in Studio until there are routes for it. */
async function verify(identityId: string) {
  must(databaseUrl, 'DATABASE_URL is needed here, to verify the company as an admin does')
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('update public.identities set status = $2 where id = $1', [
    identityId,
    'active',
  ])
  await client.query('update public.organisations set verified = true where identity_id = $1', [
    identityId,
  ])
  await client.end()
  console.log('     Studio: the company is verified')
}

const names: Record<string, string> = {
  house: 'بيت واسع',
  floor: 'دور مستقل',
  villa: 'فيلا حديثة',
  residential_plot: 'قسيمة سكنية',
}

const listing = ({ kind = 'house', ...fields }: { kind?: string } & Record<string, unknown>) => ({
  ...fields,
  kind,
  titleAr: `${names[kind]} في مشرف ${word}`,
  descriptionAr: 'الموقع قريب من المسجد والجمعية والمدارس.',
  landAreaM2: 400,
  governorateId: 'hawalli',
  areaId: 'mishref',
  location: { lat: 29.2761, lng: 48.0682, precision: 'block' },
  publish: true,
})

async function publish(fields: Parameters<typeof listing>[0]): Promise<Json> {
  const { body } = await ask('POST', '/properties', listing(fields), 201)
  must(body.status === 'active', 'the listing was to be active')
  return body
}

/** The tour's own listings that a strategy finds. */
async function found(strategy: string, more: object = {}): Promise<string[]> {
  return ids((await ask('POST', '/search/advanced', { strategy, q: word, ...more })).body)
}

const same = (left: string[], right: string[]) =>
  isDeepStrictEqual([...left].sort(), [...right].sort())

const offered: Record<string, string> = {}

await step('The service is up, and no message leaves it', async () => {
  const { body } = await ask('GET', '/health')
  must(body.database === 'ok' && body.auth === 'ok', 'database and sign-in were to be there')
  must(body.sms !== 'live' && inboxUrl, 'the tour registers invented numbers: it needs INBOX_URL')
})

await step('Registers by phone: an account only after the code', async () => {
  const { body } = await ask('POST', '/auth/register', {
    identifier: phone,
    password,
    confirmPassword: password,
    fullName: 'أحمد العنزي',
  }, 201)
  must(body.status === 'awaiting_otp' && body.registrationId, 'a code was to be awaited')
  await ask('POST', '/auth/login', { identifier: phone, password }, 403)
  const session = await ask('POST', '/auth/register/verify-otp', {
    identifier: phone,
    code: await codeFor(`+965${phone}`),
    registrationId: body.registrationId,
  })
  must(session.body.user.phone === `+965${phone}`, 'the session was to be that phone’s')
  must(session.body.activeIdentity.type === 'individual', 'an individual was to act')
  await ask('POST', '/auth/register', { identifier: `+965${phone}`, password }, 409)
})

await step('Registers by email and signs in at once', async () => {
  await ask('POST', '/auth/register', { identifier: email, password, fullName: 'نورة الصالح' }, 201)
  const { body } = await ask('POST', '/auth/login', { identifier: email, password })
  must(body.identities.length === 1 && body.activeIdentity, 'an identity was to act')
  await ask('GET', '/auth/me', undefined, 401)
  token = body.accessToken
  await ask('GET', '/auth/me')
})

await step('Publishes one listing of each type', async () => {
  const sale = await publish({ type: 'SALE', price: 285_000 })
  must(sale.priceLabel === '285,000 د.ك', 'the price was to read 285,000 د.ك')
  const rent = await publish({ type: 'RENT', price: 950, kind: 'floor' })
  must(rent.priceLabel === '950 د.ك / شهرياً', 'the price was to be a month’s')
  const exchange = await publish({ type: 'EXCHANGE', wantedAreaIds: ['bayan'], requestYear: 2009 })
  must(exchange.priceLabel === 'السعر غير معلن', 'there was to be no price')
  Object.assign(offered, { sale: sale.id, rent: rent.id, exchange: exchange.id })
  await ask('POST', '/properties', listing({ type: 'SALE' }), 422)
})

await step('Lowers a price and sets an auction', async () => {
  const deal = await publish({ type: 'SALE', price: 200_000, kind: 'villa' })
  const { body } = await ask('PATCH', `/properties/${deal.id}`, { price: 180_000 })
  must(body.deal?.dropPct === 10, 'it was to be a deal of 10 percent')
  const history = await ask('GET', `/properties/${deal.id}/price-history`)
  must(history.body.items.length === 2, 'there were to be two prices')
  const auction = await publish({ type: 'SALE', price: 120_000, kind: 'residential_plot' })
  const hours = (count: number) => new Date(Date.now() + count * 3_600_000).toISOString()
  await ask('POST', `/properties/${auction.id}/auction`, {
    startsAt: hours(1),
    endsAt: hours(49),
    startPrice: 100_000,
    minIncrement: 500,
  }, 201)
  Object.assign(offered, { deal: deal.id, auction: auction.id })
})

await step('Adds a company, switches to it and publishes as it', async () => {
  const { body } = await ask('POST', '/auth/identities', {
    type: 'company',
    nameAr: 'شركة الجولة العقارية',
    licenceNo: `TOUR/${randomInt(1_000_000_000)}`,
    licenceExpiresOn: '2040-01-01',
  }, 201)
  must(body.status === 'pending_verification', 'it was to wait for verification')
  await ask('POST', '/auth/identity/switch', { identityId: body.id }, 403)
  await verify(body.id)
  const switched = await ask('POST', '/auth/identity/switch', { identityId: body.id })
  must(switched.body.activeIdentity.id === body.id, 'the company was to act')
  const property = await publish({ type: 'SALE', price: 310_000 })
  must(
    property.owner.identityId === body.id && property.owner.verified,
    'the company was to offer it',
  )
  must(
    same(ids((await ask('GET', '/properties/mine')).body), [property.id]),
    'only its own were to come',
  )
  offered.company = property.id
  await ask('POST', '/auth/identity/switch', { identityId: switched.body.identities[0].id })
})

await step('Finds them with the five strategies, each its own', async () => {
  const { sale, rent, exchange, deal, auction, company } = offered as Record<string, string>
  const expected = {
    standard: [sale, rent, deal, company],
    exchange: [exchange],
    auction: [auction],
    deal: [deal],
    company: [company],
  } as Record<string, string[]>
  for (const [strategy, own] of Object.entries(expected)) {
    must(same(await found(strategy), own), `${strategy} was to find ${own.length}`)
  }
  must(
    same(await found('standard', { type: 'RENT', priceMax: 1000 }), [rent!]),
    'filters were to narrow',
  )
  const { body } = await ask('POST', '/search/advanced', { strategy: 'Standard' }, 422)
  must(body.error.code === 'search_strategy_unknown', 'the strategy was to be unknown')
})

await step('Quick search is the same as strategy standard', async () => {
  for (const { q, sort } of [{ q: word, sort: 'price_asc' }, { q: 'مشرف', sort: 'newest' }]) {
    const standard = await ask('POST', '/search/advanced', {
      strategy: 'standard',
      q,
      sort,
      areaIds: ['mishref'],
    })
    const quick = await ask(
      'GET',
      `/search?q=${encodeURIComponent(q)}&sort=${sort}&areaIds=mishref`,
    )
    must(
      isDeepStrictEqual(ids(quick.body), ids(standard.body)),
      'ids and order were to be the same',
    )
  }
})

await step('Saves a listing and forgets it again', async () => {
  for (const isFavorite of [true, false]) {
    const { body } = await ask('POST', `/favorites/${offered.rent}`)
    must(body.isFavorite === isFavorite, `isFavorite was to be ${isFavorite}`)
    must(
      (await ask('GET', `/favorites/check/${offered.rent}`)).body === isFavorite,
      'check was to agree',
    )
    must(
      (await ask('GET', '/favorites/ids')).body.ids.includes(offered.rent) === isFavorite,
      'the ids were to agree',
    )
    must(
      ids((await ask('GET', '/favorites')).body).length === Number(isFavorite),
      'the list was to agree',
    )
  }
})

await step('Reads the feed page by page', async () => {
  const { publishedAt } = (await ask('GET', `/properties/${offered.company}`)).body
  const seen: string[] = []
  let more = true
  for (let page = 1; more && page <= 5; page++) {
    const query = `filter=all&page=${page}&limit=10&snapshot=${encodeURIComponent(publishedAt)}`
    const { body } = await ask('GET', `/feed?${query}`)
    must(Array.isArray(body.items) && body.page === page, `page ${page} was to come`)
    seen.push(...ids(body))
    more = body.hasMore
  }
  must(new Set(seen).size === seen.length, 'nothing was to come twice')
  must(
    Object.values(offered).every((id) => seen.includes(id)),
    'what was published was to be in it',
  )
  must(
    (await ask('GET', '/feed?filter=rent&limit=5')).body.page === 1,
    'a filter was to begin anew',
  )
  await ask('GET', '/feed?filter=land', undefined, 422)
})

await step('Looks at the map', async () => {
  const box = 'bbox=48.05,29.26,48.09,29.29'
  must(
    (await ask('GET', `/map/listings?${box}&zoom=12`)).body.clusters.length,
    'clusters were to come',
  )
  const { body } = await ask('GET', `/map/listings?${box}&zoom=16&kinds=floor`)
  const point = body.points.find(({ id }: Json) => id === offered.rent)
  must(
    point?.lat === 29.275 && point?.lng === 48.0675,
    'the point was to be snapped to about 250 m',
  )
})

await step('Signs out: the token is worth nothing any more', async () => {
  await ask('POST', '/auth/logout', {}, 204)
  await ask('GET', '/auth/me', undefined, 401)
})

console.log(`\n  ✓ ${steps} steps, all as the contract says.`)
