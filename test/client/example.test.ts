// examples/web in Chromium with two users: one publishes and tops up, the other searches, saves and writes.
import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lastMessage, newPhone, type Person, projectUrl, signUp } from '../support/client.ts'
import { hasSandbox } from '../support/money.ts'
import { jpeg } from '../support/pictures.ts'
import { countSuggestions } from '../search/vocabulary.ts'
import { hasBrowser, openBrowser } from './browser.ts'
import { buildExample, faults, goTo, openExample, phone, signIn } from './example-app.ts'
import { InstalledClient } from './installed.ts'

let browser: Browser
let files: Map<string, string>

beforeAll(async () => {
  if (!hasBrowser) return
  files = await buildExample(projectUrl)
  browser = await openBrowser()
})
afterAll(() => browser?.close())

const folder = 'examples/web'
const own = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => !/^(node_modules|dist)/.test(name))

test('it is short enough to be read in an hour', () => {
  const lines = own.filter((name) => /\.(tsx?|html|css)$/.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8').split('\n').length - 1)
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(1600)
})

test('it is built by itself, with the packed client and the packages that it names', async () => {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
  const { dependencies, devDependencies } = read(join(folder, 'package.json'))
  const named: Record<string, string> = { ...dependencies, ...devDependencies }
  const ours = read('package.json').devDependencies
  expect(named).toEqual(Object.fromEntries(Object.keys(named).map((name) => [name, ours[name]])))

  const copy = new InstalledClient()
  try {
    await copy.install()
    for (const name of own) cpSync(join(folder, name), copy.path('app', name), { recursive: true })
    for (const name of Object.keys(named)) {
      const linked = copy.path('node_modules', name)
      mkdirSync(dirname(linked), { recursive: true })
      symlinkSync(resolve('node_modules', name), linked)
    }
    expect(await copy.run(process.execPath, 'node_modules/typescript/bin/tsc', '-p', 'app')).toBe(
      '',
    )
    await copy.run(process.execPath, 'node_modules/vite/bin/vite.js', 'build', 'app')
    expect(readdirSync(copy.path('app/dist'))).toContain('index.html')
  } finally {
    copy.remove()
  }
})

const newPage = (device = {}): Promise<Page> => openExample(browser, files, device)

async function registerByPhone(page: Page, number: string, name: string) {
  await goTo(page, 'sign-in')
  await page.getByRole('button', { name: 'حساب جديد' }).click()
  await page.locator('[name=identifier]').fill(number)
  await page.locator('[name=password]').fill('Diwaniya-2026')
  await page.locator('[name=fullName]').fill(name)
  await page.getByRole('button', { name: 'إنشاء الحساب' }).click()
  await page.locator('[autocomplete=one-time-code]').waitFor()
  await page.locator('[autocomplete=one-time-code]').fill((await lastMessage(number)).code)
  await page.getByRole('button', { name: 'تأكيد' }).click()
  await page.locator('.who').waitFor()
}

/** Fills in the form for a house with numbers as people type them, and publishes it. */
async function publishHouse(page: Page, owner: Person, title: string) {
  await goTo(page, 'publish')
  await page.locator('[name=kind]').selectOption('house')
  await page.locator('[name=areaId]').selectOption('salmiya')
  const price = page.locator('[name=price]')
  await price.fill('مئتان')
  await page.getByText('نشر الإعلان').click()
  await page.locator('.field:has([name=price]) .wrong', { hasText: 'ليس رقماً' }).waitFor()
  await price.fill('285.000')
  await page.getByRole('button', { name: '285,000', exact: true }).click()
  expect(await price.inputValue()).toBe('285000')
  await price.fill('٢٨٥٬٠٠٠')
  await page.locator('[name=landAreaM2]').fill('٤٠٠')
  await page.getByText('نشر الإعلان').click()
  await page.locator('.field:has([name=titleAr]) .wrong').waitFor()
  await page.locator('[name=titleAr]').fill(title)
  const picture = jpeg({ width: 640, height: 480 })
  await page.locator('[type=file]')
    .setInputFiles({ name: 'house.jpg', mimeType: 'image/jpeg', buffer: picture })
  await page.locator('.thumbnail img').waitFor()
  await page.getByText('نشر الإعلان').click()
  await page.locator('article.whole h1', { hasText: title }).waitFor()
  const { body: { items: [listing] } } = await owner.get('/properties/mine')
  expect(listing).toMatchObject({ price: 285_000, landAreaM2: 400, media: [expect.anything()] })
}

test.runIf(hasBrowser)('people search, save, publish, chat and pay in the example', async () => {
  const person = await signUp()
  const word = `واحة${randomUUID().replace(/\D/g, '').slice(0, 10)}`
  const owner = await newPage()
  await signIn(owner, person)
  await publishHouse(owner, person, `بيت ${word} للبيع`)

  const buyer = await newPage(phone)
  await registerByPhone(buyer, newPhone(), 'فهد المطيري')
  // The response to the page's first search arrives only after that to the next one.
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  const first = /\/search\?(?!.*q=)/
  await buyer.route(first, async (route) => {
    await answered
    await route.continue().catch(() => {})
  })
  await goTo(buyer, 'map')
  await buyer.locator('nav a[href="#/search"]').click()
  const box = buyer.locator('#q')
  await box.fill(`بيت للبيع في السالمية ٤٠٠ متر ${word}`)
  await box.press('Enter')
  await buyer.locator('.chip').first().waitFor()
  const fields = () =>
    buyer.locator('.chip').evaluateAll((all) =>
      all.map((chip) => (chip as HTMLElement).dataset.field).sort()
    )
  // The size sets two filters, but is shown as one chip.
  expect(await fields()).toEqual(['areaIds', 'areaM2Max', 'kinds', 'type'])
  const card = buyer.locator('.card', { hasText: word })
  await card.waitFor()
  answer()
  await buyer.unroute(first)

  // Going back from a listing restores the search.
  await card.getByRole('link').click()
  await buyer.locator('article.whole h1', { hasText: word }).waitFor()
  expect(await buyer.title()).toContain(word)
  await buyer.goBack()
  await card.waitFor()
  expect(await box.inputValue()).toContain(word)
  await buyer.locator('.chip[data-field=areaIds]').click()
  await buyer.locator('.chip[data-field=areaIds]').waitFor({ state: 'detached' })
  await card.waitFor()
  expect(await fields()).toEqual(['areaM2Max', 'areaM2Min', 'kinds', 'type'])

  // The list of suggestions under the box completes the typed text. The keyboard selects one of them.
  await countSuggestions()
  await box.fill('')
  await box.pressSequentially('بيت للبيع السال', { delay: 20 })
  const suggestion = buyer.locator('#suggestions li', { hasText: 'بيت للبيع في السالمية' })
  await suggestion.waitFor()
  while (await suggestion.getAttribute('aria-selected') !== 'true') await box.press('ArrowDown')
  await box.press('Enter')
  await buyer.locator('.chip[data-field=areaIds]').waitFor()
  expect(await fields()).toEqual(['areaIds', 'kinds', 'type'])
  expect(await buyer.locator('#suggestions').isVisible()).toBe(false)
  await card.waitFor()

  await card.locator('.heart').click()
  await card.locator('.heart[aria-pressed=true]').waitFor()
  await goTo(buyer, 'favorites')
  await card.getByRole('link').click()
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
  await goTo(owner, 'account')
  await owner.getByRole('button', { name: 'خروج' }).click()
  await owner.locator('header .button').waitFor()
  expect(faults).toEqual([])
})

async function topUp(page: Page) {
  await goTo(page, 'plans')
  const [checkout] = await Promise.all([page.waitForEvent('popup'), page.getByText('اشحن').click()])
  await checkout.getByRole('button', { name: 'ادفع الآن' }).click()
  await page.locator('h2', { hasText: '20 د.ك' }).waitFor()
  await page.locator('.row .tag.paid').waitFor()
}
