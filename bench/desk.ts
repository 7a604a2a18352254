/**
 * Measures the administrators' desk in Chromium with 5,000 waiting items: the time until the queue is
 * visible, and the time from a decision to the next item. The baseline is a plain page that shows the same
 * rows in an HTML table and reloads its list after each decision.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import pg from 'pg'
import { openBrowser } from '../test/client/browser.ts'
import { answerOf, buildDesk, type Files } from '../test/desk/built.ts'
import { startStack } from '../test/support/stack.ts'
import { percentile } from './http-load.ts'
import { plainList } from './plain-list.ts'

const opens = 20
const decisions = 40

type Times = { p50: number; p95: number; worst: number }
export type DeskTimes = Record<'desk' | 'plain', { opens: Times; decides: Times }> & {
  waiting: number
}

/** Adds waiting items to the demo data until there are `count`. Returns the number of waiting items. */
export async function enlarge(databaseUrl: string, count: number): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(`set edits.by = 'bench'; set statement_timeout = 0`)
    // Triggers are disabled: they would check and announce each item, and the benchmark needs none of their
    // writes. Jobs that write to the table wait until the commit.
    await client.query('begin; alter table public.properties disable trigger user')
    await client.query(changes, [Math.floor(count * 0.35)])
    await client.query(reports, [Math.floor(count * 0.1)])
    const { rows: [{ waiting }] } = await client.query(counted)
    await client.query(copies, [Math.max(0, count - waiting)])
    await client.query('alter table public.properties enable trigger user; commit')
    await client.query('analyze public.properties, public.reports')
    return Number((await client.query(counted)).rows[0].waiting)
  } finally {
    await client.end()
  }
}

const counted = `select
  (select count(*) from public.properties where private.awaits_review(properties)) +
  (select count(*) from public.identities where private.awaits_verification(identities)) +
  (select count(*) from public.reports where status = 'open')::integer as waiting`

// Listings of the demo data, which have pictures, get a pending change of price and title. Each title is
// unique, so that the benchmark can recognise the next item.
const changes = `
  update public.properties set title_ar = left(title_ar, 100) || ' ' || ref_no,
    pending_changes = jsonb_build_object(
      'price', round(price * 0.95), 'titleAr', left(title_ar, 100) || ' بسعر أقل')
  where id in (
    select id from public.properties
    where status = 'active' and price is not null and pending_changes is null
    order by created_at limit $1
  )`

const reports = `
  insert into public.reports (account_id, identity_id, target_type, target_id, reported_identity_id,
    stored_content, content_hash, reason, note, created_at)
  select reporter.account_id, reporter.id, 'property', listing.id, listing.owner_identity_id,
    jsonb_build_object('displayName', owner.display_name, 'pictures', '[]'::jsonb,
      'fields', jsonb_build_object('titleAr', listing.title_ar, 'price', listing.price)),
    md5(listing.id::text), 'spam', 'الإعلان مكرر ' || listing.n, listing.created_at
  from (
    select *, row_number() over (order by id) as n from public.properties where status = 'active'
  ) as listing
  join public.identities as owner on owner.id = listing.owner_identity_id
  cross join lateral (
    select identities.id, identities.account_id from public.identities
    where identities.type = 'individual' and identities.account_id <> owner.account_id
    limit 1
  ) as reporter
  where listing.n <= $1
  on conflict do nothing`

const copies = `
  insert into public.properties (owner_identity_id, owner_type, owner_verified, owner_active, type, status,
    kind, usage, title_ar, title_en, description_ar, price, land_area_m2, built_area_m2, bedrooms, bathrooms,
    furnished, governorate_id, area_id, lat, lng, location_precision, created_at)
  select owner_identity_id, owner_type, owner_verified, owner_active, type, 'pending_review',
    kind, usage, title_ar, title_en, description_ar, price, land_area_m2, built_area_m2, bedrooms, bathrooms,
    furnished, governorate_id, area_id, lat, lng, location_precision,
    now() - n * interval '1 second'
  from (
    select properties.*, row_number() over () as n
    from public.properties cross join generate_series(1, 100)
    where properties.status = 'active'
    limit $1
  ) as copied`

/** Serves these files from a separate origin. Files may be added later. */
async function serveFiles(files: Files) {
  const server = createServer(({ url = '/' }, response) => {
    const { status, contentType, body } = answerOf(files, url)
    response.writeHead(status, { 'content-type': contentType }).end(body)
  }).listen(0)
  await once(server, 'listening')
  return { server, origin: `http://localhost:${(server.address() as AddressInfo).port}` }
}

export async function benchDesk(say: (line: string) => void): Promise<DeskTimes> {
  const files: Files = new Map()
  const { server, origin } = await serveFiles(files)
  say('starting a stack with the demo data')
  const stack = await startStack({
    RATES: 'off',
    WORKER_LIFE: '0',
    SEED: 'demo',
    CORS_ORIGINS: origin,
  })
  const browser = await openBrowser()
  try {
    const waiting = await enlarge(stack.databaseUrl, 5000)
    say(`${waiting} items wait`)
    for (const [name, file] of await buildDesk(stack.url)) files.set(name, file)
    files.set('plain.html', plainList(stack.baseUrl))
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
    await context.addInitScript(watch)
    const desk = await context.newPage()
    await desk.goto(origin)
    await signIn(desk)
    const kept = await desk.evaluate(() => JSON.stringify({ ...sessionStorage }))
    const token = /accessToken\\*":\\*"([^"\\]+)/.exec(kept)![1]!
    say(`the desk: ${opens} openings, ${decisions} decisions`)
    const atDesk = {
      opens: await timesOf(opens, () => openingOf(desk, `${origin}/#/queue`, '[data-row]')),
      decides: await timesOf(decisions, await decidingAtDesk(desk, origin)),
    }
    await desk.close()
    say('the plain table: the same')
    const plain = await context.newPage()
    const table = (query: string) => `${origin}/plain.html${query}#${token}`
    const inTable = {
      opens: await timesOf(opens, () => openingOf(plain, table('?limit=30'), 'td')),
      decides: await timesOf(decisions, await decidingIn(plain, table('?kind=changes&limit=30'))),
    }
    return { waiting, desk: atDesk, plain: inTable }
  } finally {
    await browser.close()
    server.close()
    await stack.stop()
  }
}

/** Signs in as the administrator of the demo data. */
async function signIn(page: Page) {
  await page.locator('[autocomplete=username]').fill('admin@example.com')
  await page.locator('[type=password]').fill('Diwaniya-2026')
  await page.keyboard.press('Enter')
  await page.locator('[data-row]').first().waitFor()
}

async function timesOf(rounds: number, measure: () => Promise<number>): Promise<Times> {
  const times: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const time = await measure()
    if (round > 0) times.push(time) // round 0 is the warm-up
  }
  const sorted = times.toSorted((a, b) => a - b)
  return { p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95), worst: sorted.at(-1)! }
}

/** Injected into every page. Reports when an element first appears and when its text changes. */
function watch() {
  const untilPainted = () =>
    new Promise<number>((done) =>
      requestAnimationFrame(() => setTimeout(() => done(performance.now())))
    )
  const until = (isSo: () => boolean) =>
    new Promise<number>((done) => {
      const look = () => {
        if (!isSo()) return
        observer.disconnect()
        untilPainted().then(done)
      }
      const observer = new MutationObserver(look)
      observer.observe(document, { childList: true, subtree: true, characterData: true })
      look()
    })
  const first = (selector: string) => document.querySelector(selector)
  Object.assign(globalThis, {
    /** Resolves to the milliseconds since the navigation began. */
    shows: (selector: string) => until(() => first(selector) !== null),
    /** Starts watching. `changed` resolves to the milliseconds from the next key press or click. */
    watchFor: (selector: string) => {
      const before = first(selector)?.textContent
      let began = 0
      for (const event of ['keydown', 'click']) {
        addEventListener(event, ({ timeStamp }) => (began ||= timeStamp), {
          capture: true,
          once: true,
        })
      }
      const changed = until(() => {
        const now = first(selector)?.textContent
        return began > 0 && now !== undefined && now !== before
      }).then((shown) => shown - began)
      Object.assign(globalThis, { changed })
    },
  })
}

type Watching = {
  shows: (selector: string) => Promise<number>
  watchFor: (selector: string) => void
  changed: Promise<number>
}

async function openingOf(page: Page, url: string, selector: string): Promise<number> {
  await page.goto('about:blank')
  await page.goto(url, { waitUntil: 'commit' })
  return await page.evaluate(
    (selector) => (globalThis as unknown as Watching).shows(selector),
    selector,
  )
}

async function change(page: Page, selector: string, act: () => Promise<void>) {
  // The desk binds its keys after painting. No person is as fast as this script, so it waits for that.
  await page.evaluate(async (selector) => {
    for (let frame = 0; frame < 6; frame++) await new Promise(requestAnimationFrame)
    const { watchFor } = globalThis as unknown as Watching
    watchFor(selector)
  }, selector)
  await act()
  return await page.evaluate(() => (globalThis as unknown as Watching).changed)
}

async function decidingAtDesk(page: Page, origin: string) {
  await page.goto(`${origin}/#/queue?kind=changes`)
  await page.locator('[data-row]').first().click()
  await page.locator('.decide button').first().waitFor()
  return () => change(page, 'h1', () => page.keyboard.press('a'))
}

async function decidingIn(page: Page, table: string) {
  await openingOf(page, table, 'td')
  return () => change(page, 'td', () => page.locator('button').first().click())
}

export function deskTable({ desk, plain }: DeskTimes): string[][] {
  const ms = ({ p50, p95, worst }: Times) => [p50, p95, worst].map((time) => time.toFixed(0))
  return [
    [
      'in Chromium, ms (p50, p95, worst)',
      ...Array(3).fill('desk'),
      ...Array(3).fill('plain table'),
    ],
    ['from the navigation to the first row', ...ms(desk.opens), ...ms(plain.opens)],
    ['from a decision to the next item', ...ms(desk.decides), ...ms(plain.decides)],
  ]
}
