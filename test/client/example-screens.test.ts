// Screens of examples/web: failures, filters and map, owners and offices; axe and the width of every page.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, projectUrl, signUp } from '../support/client.ts'
import { givePhone, insertListing, insertOrganisation } from '../support/fixtures.ts'
import { publishListing } from '../support/listings.ts'
import { isNightly } from '../support/nightly.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import {
  buildExample,
  type Device,
  faults,
  goTo,
  loaded,
  openExample,
  phone,
  signIn,
} from './example-app.ts'

let browser: Browser
let files: Map<string, string>
let owner: Person
let listing: { id: string; titleAr: string }

beforeAll(async () => {
  if (!hasBrowser) return
  owner = await signUp()
  await givePhone(owner)
  ;[files, browser] = await Promise.all([buildExample(projectUrl), openBrowser()])
  listing = await publishListing(owner, { titleAr: `فيلا ${randomUUID().slice(0, 8)}` })
  const pictures = [jpeg({ width: 640, height: 480 }), jpeg({ width: 480, height: 640, shade: 9 })]
  await uploadPictures(owner, pictures, { propertyId: listing.id })
  for (const price of [180_000, 190_000]) await owner.patch(`/properties/${listing.id}`, { price })
})
afterAll(() => browser?.close())

const anyOrigin = { 'access-control-allow-origin': '*' }
const open = (device?: Device) => openExample(browser, files, device)

describe.runIf(hasBrowser)('on a bad day nothing is blank', () => {
  test('a listing that is gone, a page without a network, a slow line', async () => {
    const page = await open()
    await goTo(page, `listing/${randomUUID()}`)
    await page.locator('main .none').getByRole('link', { name: 'إلى البحث' }).click()
    await page.locator('.cards .card').first().waitFor()

    await page.context().setOffline(true)
    await goTo(page, `listing/${listing.id}`)
    await page.getByText('لا يوجد اتصال بالإنترنت').first().waitFor()
    await page.context().setOffline(false) // the page tries again by itself
    await page.locator('article.whole h1', { hasText: listing.titleAr }).waitFor()

    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>()
    await page.route(/\/search\?/, async (route) => {
      await arrived
      await route.continue().catch(() => {})
    })
    await page.locator('header .brand').click()
    await page.getByText('الاتصال بطيء').first().waitFor()
    arrive()
    await page.locator('.cards .card').first().waitFor()

    await page.route(
      /\/search\?/,
      (route) =>
        route.fulfill({
          status: 503,
          headers: anyOrigin,
          json: {
            error: {
              code: 'maintenance',
              message: 'نعود بعد قليل',
              messageEn: 'Back soon',
              requestId: 'x',
            },
          },
        }),
    )
    await goTo(page, 'search?sort=price_asc')
    const alert = page.locator('main [role=alert]', { hasText: 'نعود بعد قليل' })
    await alert.getByRole('button', { name: 'حاول مرة أخرى' }).waitFor()
    expect(faults).toEqual([])
  })

  test('suggestions that are overtaken are dropped', async () => {
    const page = await open()
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const seen: string[] = []
    await page.route(/\/search\/suggest/, async (route) => {
      const q = new URL(route.request().url()).searchParams.get('q')!
      seen.push(q)
      if (q === 'الج') await answered
      const items = [{ text: `${q}…`, kind: 'word', filters: { q }, count: null }]
      await route.fulfill({ json: { items }, headers: anyOrigin }).catch(() => {})
    })
    await page.locator('#q').fill('الج')
    await expect.poll(() => seen).toEqual(['الج'])
    await page.locator('#q').fill('السال')
    const shown = page.locator('#suggestions li')
    await shown.filter({ hasText: 'السال…' }).waitFor()
    answer()
    await page.locator('#q').press('Escape')
    await shown.first().waitFor({ state: 'detached' })
    expect(await shown.count()).toBe(0)
  })
})

describe.runIf(hasBrowser)('filters, sort and map', () => {
  test('stand in the address, and Back takes each back', async () => {
    const page = await open(phone)
    await page.getByRole('button', { name: 'التصفية' }).click()
    await page.locator('dialog [name=type]').selectOption('SALE')
    await page.locator('dialog [name=priceMax]').fill('٣٠٠ ألف')
    await page.locator('dialog button:not([type])').click()
    await page.locator('dialog .wrong').waitFor()
    await page.locator('dialog [name=priceMax]').fill('٣٠٠٬٠٠٠')
    await page.locator('dialog button', { hasText: /عرض \d|عرض أكثر/ }).click()
    await page.locator('.chip[data-field=priceMax]', { hasText: '300,000' }).waitFor()
    await page.locator('[name=sort]').selectOption('price_asc')
    await page.waitForURL(/type=SALE.*priceMax=300000.*sort=price_asc|sort=price_asc.*type=SALE/)
    await page.reload()
    await page.locator('.chip[data-field=priceMax]').waitFor()
    expect(await page.locator('[name=sort]').inputValue()).toBe('price_asc')
    await page.goBack()
    await page.waitForURL((url) => !url.hash.includes('sort='))
    await page.goBack()
    await page.locator('.chip').first().waitFor({ state: 'detached' })
  })

  test('the keyboard reaches circles and opens them; prices of areas are pictures and a table', async () => {
    await insertListing(owner.identityId)
    const page = await open()
    await goTo(page, 'map')
    const pin = page.locator('.canvas .pin').first()
    await pin.waitFor()
    const zoom = () => Number(/at=[^&]*%2C([\d.]+)/.exec(page.url())?.[1] ?? 0)
    await expect.poll(zoom).toBeGreaterThan(0)
    const before = zoom()
    await pin.focus()
    await page.keyboard.press('Enter')
    await expect.poll(zoom).toBeGreaterThan(before)
    await goTo(page, 'search')
    await goTo(page, 'map?type=SALE')
    await page.locator('.pin[aria-label*="من"]').first().waitFor()
    await goTo(page, 'map?show=prices&type=SALE&area=salmiya')
    await page.getByRole('dialog', { name: 'السالمية' }).waitFor()
    await page.locator('dialog .panel b').waitFor()
    expect(faults).toEqual([])
  })
})

describe.runIf(hasBrowser)('owners', () => {
  test('pause, resume, change and close what is theirs, and see its figures', async () => {
    const page = await open()
    await signIn(page, owner)
    await goTo(page, 'mine')
    const row = page.locator('.row.own', { hasText: listing.titleAr })
    const press = async (name: string, then: string) => {
      await row.getByRole('button', { name, exact: true }).click()
      await row.locator('.tag', { hasText: then }).waitFor()
    }
    await press('إيقاف مؤقت', 'متوقف مؤقتاً')
    await press('إعادة العرض', 'معروض')
    await row.getByRole('link', { name: 'تعديل' }).click()
    await page.locator('[name=price]').fill('١٧٥٠٠٠')
    await page.getByRole('button', { name: 'حفظ التعديلات' }).click()
    await page.locator('article.whole strong', { hasText: '175,000' }).waitFor()
    // The chart's table has the same numbers as the chart.
    const history = page.locator('.chart', { hasText: 'السعر منذ النشر' })
    await history.locator('svg[role=img][aria-label*="التغييرات: 3"]').waitFor()
    await history.locator('summary').click()
    expect(await history.locator('td').allTextContents())
      .toEqual(['175,000 د.ك', '190,000 د.ك', '180,000 د.ك', '185,000 د.ك'])
    await page.locator('.gallery button').first().click()
    await page.getByRole('dialog', { name: 'صورة 1 من 2' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('dialog', { name: 'صورة 2 من 2' }).waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })

    await page.getByRole('link', { name: 'الأرقام' }).click()
    await loaded(page, 'figures')
    await page.locator('.chart', { hasText: 'المشاهدات' }).locator('svg[role=img]').waitFor()
    await page.getByRole('button', { name: '7 أيام' }).click()
    await page.waitForURL(/days=7/)
    await goTo(page, 'mine')
    await press('تم البيع', 'تم البيع')
    expect((await owner.get(`/properties/${listing.id}`)).body)
      .toMatchObject({ status: 'sold', price: 175_000 })
    await owner.post(`/properties/${listing.id}/archive`)
    await owner.post(`/properties/${listing.id}/restore`)
    await owner.post(`/properties/${listing.id}/publish`)
    expect(faults).toEqual([])
  })

  test('hear of leads at once, and an office acts as an office', async () => {
    const office = await insertOrganisation(owner.id, 'office')
    const page = await open(phone)
    await signIn(page, owner)
    await page.locator('.bell').waitFor()
    const buyer = await signUp('منيرة الرشيدي')
    await buyer.post(`/properties/${listing.id}/contact`, { kind: 'call' })
    await page.locator('.bell b').waitFor()
    await page.locator('.bell').click()
    await page.locator('.row.unread').first().click()
    await loaded(page, 'leads')
    await page.locator('.row', { hasText: 'منيرة الرشيدي' }).waitFor()

    await goTo(page, 'account')
    await page.locator('.row', { hasText: 'شركة الديرة' })
      .getByRole('button', { name: 'تصرّف باسمه' }).click()
    await page.locator('.who', { hasText: 'شركة الديرة' }).waitFor()
    await page.locator('h2', { hasText: 'آخر ٣٠ يوماً' }).waitFor()
    await goTo(page, 'mine')
    await page.locator('.none').waitFor() // the office does not list the person's own listings
    expect((await owner.get('/auth/me')).body.activeIdentity.id).toBe(office)
    await owner.post('/auth/identity/switch', { identityId: owner.identityId })
    expect(faults).toEqual([])
  })
})

const script = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const sizes = [{ width: 390, height: 844 }, { width: 1280, height: 900 }]

/**
 * Returns what axe finds, and whether the page is wider than the screen. Except in nightly runs, each
 * language is checked in one colour scheme only.
 */
async function lookAt(page: Page, name: string, language: 'ar' | 'en'): Promise<string[]> {
  const found: string[] = []
  const colours = isNightly
    ? ['light', 'dark'] as const
    : [language === 'ar' ? 'light' : 'dark'] as const
  for (const size of sizes) {
    await page.setViewportSize(size)
    for (const colorScheme of colours) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      const violations = await page.evaluate(async () => {
        const { axe: found } = window as unknown as { axe: typeof axe }
        const { violations } = await found.run(document, { resultTypes: ['violations'] })
        return violations.map(({ id, nodes }) =>
          `${id}: ${nodes.map(({ target }) => target.join(' ')).slice(0, 4).join(' | ')}`
        )
      })
      found.push(...violations.map((one) => `${name}, ${size.width}, ${colorScheme}: ${one}`))
    }
    const wider = await page.evaluate(() =>
      document.scrollingElement!.scrollWidth - document.documentElement.clientWidth
    )
    if (wider > 0) found.push(`${name}, ${size.width}: ${wider} pixels wider than the screen`)
  }
  return found
}

describe.runIf(hasBrowser)('axe finds nothing', () => {
  test.each(['ar', 'en'] as const)('on any page, in %s', async (language) => {
    const person = await signUp()
    const { id } = await publishListing(person)
    const { body: { id: chat } } = await owner.post('/conversations', {
      propertyId: id,
      message: 'هل هو متاح؟',
    })
    const page = await open({ language })
    await page.evaluate(script)
    const titles = new Set<string>()
    const found: string[] = []
    const visit = async (address: string) => {
      await goTo(page, address)
      found.push(...await lookAt(page, address, language))
      titles.add(await page.title())
    }
    const open_ = ['search', 'search?q=فيلا', 'map', 'map?show=prices', 'sign-in']
    for (const address of open_) await visit(address)
    await visit(`listing/${randomUUID()}`)
    await visit(`listing/${listing.id}`)
    await page.locator('.gallery button').first().click()
    found.push(...await lookAt(page, 'picture', language))
    await page.keyboard.press('Escape')
    await goTo(page, 'search')
    await page.locator('.bar button').first().click()
    found.push(...await lookAt(page, 'filters', language))
    await page.keyboard.press('Escape')
    await signIn(page, person)
    const personal = [
      ...['favorites', 'chats', 'mine', 'notifications', 'plans', 'account', 'leads', 'publish'],
      ...[`chat/${chat}`, `publish/${id}`, `figures/${id}`],
    ]
    for (const address of personal) await visit(address)
    expect(found).toEqual([])
    expect(titles.size).toBeGreaterThanOrEqual(14)
    expect(faults).toEqual([])
  })
})
