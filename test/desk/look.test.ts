// ADM-33: every page is accessible in both languages and colour schemes, on a phone and on a wide screen.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type axe from 'axe-core'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '../client/browser.ts'
import { signUpAdmin } from '../support/admins.ts'
import { type Person, signUp } from '../support/client.ts'
import { topUp } from '../support/money.ts'
import { isNightly } from '../support/nightly.ts'
import { goTo, type Language, loaded, openBy, openDesk, seenBy, signInAt } from './desk.ts'
import { oneOfEach } from './waiting.ts'

let browser: Browser
let admin: Person
let owner: Person
let pages: Record<string, string>
const script = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

beforeAll(async () => {
  if (!hasBrowser) return
  ;[browser, admin, owner] = await Promise.all([
    openBrowser(),
    signUpAdmin('مشرفة المكتب'),
    signUp(),
  ])
  const ids = await oneOfEach(owner)
  await topUp(owner, 10)
  await admin.post('/admin/notes', {
    targetType: 'account',
    targetId: owner.id,
    text: 'راجعنا الرخصة',
  })
  pages = {
    queue: `/queue?accountId=${owner.id}`,
    ...Object.fromEntries(Object.entries(ids).map(([kind, id]) => [kind, `/queue/${id}`])),
    people: '/people',
    person: `/people/${owner.id}`,
    invoices: `/money/${owner.id}`,
    payouts: '/money/payouts',
    events: '/money/events',
    figures: '/figures',
    settings: '/settings/service',
    plans: '/settings/plans',
    passkeys: '/settings/passkeys',
    reasons: '/settings/reasons',
    audit: '/audit',
    nobody: '/people/00000000-0000-4000-8000-000000000000',
  }
})
afterAll(() => browser?.close())

const sizes = [{ width: 390, height: 844 }, { width: 1440, height: 900 }]
/** Nightly runs check each language in both colour schemes, other runs in one. */
const coloursOf = (language: Language) =>
  isNightly ? ['light', 'dark'] as const : [language === 'ar' ? 'dark' : 'light'] as const

/** Returns axe's findings, and by how much the page is too wide, in each colour scheme and size. */
async function lookAt(page: Page, name: string, language: Language): Promise<string[]> {
  const found: string[] = []
  for (const size of sizes) {
    await page.setViewportSize(size)
    for (const colorScheme of coloursOf(language)) {
      await page.emulateMedia({ colorScheme })
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

const words = { ar: { keys: 'المفاتيح' }, en: { keys: 'Keys' } }

describe.runIf(hasBrowser)('ADM-33 axe finds nothing', () => {
  test.each<Language>(['ar', 'en'])('on any page, in %s', async (language) => {
    const page = await openDesk(browser, { language })
    await page.evaluate(script)
    const found = await lookAt(page, 'sign-in', language)
    await signInAt(page, admin, language)
    for (const [name, path] of Object.entries(pages)) {
      await goTo(page, path)
      await loaded(page)
      found.push(...await lookAt(page, name, language))
    }
    await openBy(page, '?', words[language].keys)
    found.push(...await lookAt(page, 'keys', language))
    await page.keyboard.press('Escape')
    await goTo(page, pages.listing!)
    await loaded(page)
    await openBy(page, 'r')
    found.push(...await lookAt(page, 'reject', language))
    expect(found).toEqual([])
    expect(seenBy(page).faults).toEqual([])
  })
})
