// examples/web in Chromium with two users: one publishes and tops up, the other searches, saves and writes.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastMessage, newPhone, projectUrl, signUp } from '../support/client.ts'
import { hasSandbox } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import { countSuggestions } from '../search/vocabulary.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { buildExample, openExample } from './example-app.ts'

let browser: Browser
let files: Map<string, string>
const faults: string[] = []

beforeAll(async () => {
  if (!hasBrowser) return
  files = await buildExample(projectUrl)
  browser = await openBrowser()
})
afterAll(() => browser?.close())

async function newPage(device = {}): Promise<Page> {
  const page = await openExample(browser, files, device)
  page.setDefaultTimeout(240_000)
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.locator('.cards > *').first().waitFor()
  return page
}

const goTo = (page: Page, name: string) => page.locator(`nav a[href="#/${name}"]`).click()

async function signIn(page: Page, identifier: string, password: string) {
  await page.getByText('دخول', { exact: true }).first().click()
  await page.locator('[name=identifier]').fill(identifier)
  await page.locator('[name=password]').fill(password)
  await page.locator('form button').first().click()
  await page.getByText('خروج').waitFor()
}

test('it is short enough to be read in half an hour', () => {
  const lines = readdirSync('examples/web', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|html|css)$/.test(name))
    .map((name) => readFileSync(join('examples/web', name), 'utf8').split('\n').length - 1)
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(850)
})

test.runIf(hasBrowser)('people search, save, publish, chat and pay in the example', async () => {
  const person = await signUp()
  const word = `واحة${randomUUID().replace(/\D/g, '').slice(0, 10)}`
  const owner = await newPage()
  await signIn(owner, person.identifier, person.password)

  await goTo(owner, 'publish')
  await owner.locator('[name=kind]').selectOption('house')
  await owner.locator('[name=areaId]').selectOption('salmiya')
  await owner.locator('[name=price]').fill('285000')
  await owner.locator('[name=landAreaM2]').fill('400')
  await owner.getByText('نشر الإعلان').click()
  await owner.locator('label:has([name=titleAr]) .wrong').waitFor()
  await owner.locator('[name=titleAr]').fill(`بيت ${word} للبيع`)
  const picture = jpeg({ width: 640, height: 480 })
  await owner.locator('[type=file]')
    .setInputFiles({ name: 'house.jpg', mimeType: 'image/jpeg', buffer: picture })
  await owner.locator('.fields .line img').waitFor()
  await owner.getByText('نشر الإعلان').click()
  await owner.locator('article h1', { hasText: word }).waitFor()
  expect(await owner.locator('.gallery img').count()).toBe(1)

  const buyer = await newPage({ viewport: { width: 390, height: 800 }, hasTouch: true })
  const phone = newPhone()
  await buyer.getByText('دخول', { exact: true }).click()
  await buyer.locator('[name=identifier]').fill(phone)
  await buyer.locator('[name=password]').fill('Diwaniya-2026')
  await buyer.locator('[name=fullName]').fill('فهد المطيري')
  await buyer.getByRole('button', { name: 'حساب جديد' }).click()
  await buyer.locator('[autocomplete=one-time-code]').waitFor()
  const { code } = await lastMessage(phone)
  await buyer.locator('[autocomplete=one-time-code]').fill(code)
  await buyer.getByRole('button', { name: 'تأكيد' }).click()
  await buyer.getByText('خروج').waitFor()
  // The search with which the page begins is answered after the next one.
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  await buyer.route(/\/search\?(?!.*q=)/, async (route) => {
    await answered
    await route.continue().catch(() => {})
  })
  await goTo(buyer, 'map')
  await goTo(buyer, 'search')
  await buyer.locator('[type=search]').fill(`بيت للبيع في السالمية ٤٠٠ متر ${word}`)
  await buyer.keyboard.press('Enter')
  await buyer.locator('.chip').first().waitFor()
  const fields = () =>
    buyer.locator('.chip').evaluateAll((all) =>
      all.map((chip) => (chip as HTMLElement).dataset.field)
    )
  // The size sets two filters, but is shown as one chip.
  expect((await fields()).sort()).toEqual(['areaIds', 'areaM2Max', 'kinds', 'type'])
  const card = buyer.locator('.card', { hasText: word })
  await card.waitFor()
  answer()
  await buyer.unroute(/\/search\?(?!.*q=)/)
  await buyer.locator('.chip[data-field=areaIds]').click()
  await buyer.locator('.chip[data-field=areaIds]').waitFor({ state: 'detached' })
  expect((await fields()).sort()).toEqual(['areaM2Max', 'kinds', 'type'])

  // A list under the box completes the typed text.
  await countSuggestions()
  await buyer.locator('[type=search]').fill('')
  await buyer.locator('[type=search]').pressSequentially('بيت للبيع السال', { delay: 20 })
  await buyer.locator('form.search li', { hasText: 'بيت للبيع في السالمية' }).locator('button')
    .click()
  await buyer.locator('.chip[data-field=areaIds]').waitFor()
  expect(await fields()).toEqual(['areaIds'])
  expect(await buyer.locator('form.search ul').isVisible()).toBe(false)
  await card.waitFor()

  await card.locator('.heart').click()
  await card.locator('.heart[aria-pressed=true]').waitFor()
  await goTo(buyer, 'map')
  await buyer.locator('.field .area').first().waitFor()
  expect(await buyer.locator('[data-cluster] .from', { hasText: 'من' }).count()).toBe(0)
  await buyer.locator('.bar select').selectOption('SALE')
  await buyer.locator('[data-cluster] .from', { hasText: 'من' }).first().waitFor()
  await goTo(buyer, 'favorites')
  await card.click()
  await buyer.getByRole('button', { name: 'محادثة' }).click()
  const write = async (page: Page, text: string) => {
    await page.locator('.write input').fill(text)
    await page.locator('.write button').click()
  }
  await buyer.locator('.messages').waitFor()
  await write(buyer, 'هل البيت متاح؟')
  const question = buyer.locator('.bubble.own', { hasText: 'هل البيت متاح؟' })
  await question.waitFor()
  expect(await question.getAttribute('class')).not.toContain('read')

  await goTo(owner, 'chats')
  await owner.locator('.row', { hasText: 'فهد المطيري' }).click()
  await buyer.locator('.bubble.own.read', { hasText: 'هل البيت متاح؟' }).waitFor()
  await write(owner, 'نعم متاح')
  await buyer.locator('.bubble:not(.own)', { hasText: 'نعم متاح' }).waitFor()
  await owner.locator('.bubble.own.read', { hasText: 'نعم متاح' }).waitFor()

  if (hasSandbox) await topUp(owner)
  await owner.getByText('خروج').click()
  await owner.getByText('دخول', { exact: true }).first().waitFor()
  expect(faults).toEqual([])
})

async function topUp(page: Page) {
  await goTo(page, 'plans')
  const [checkout] = await Promise.all([page.waitForEvent('popup'), page.getByText('اشحن').click()])
  await checkout.getByRole('button', { name: 'ادفع الآن' }).click()
  await page.locator('h2', { hasText: '20 د.ك' }).waitFor()
  await page.locator('.row .paid').waitFor()
}
