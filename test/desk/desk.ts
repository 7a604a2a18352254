// Runs the built desk in headless Chromium and records its faults: errors,
// dialogs, new pages, CSP violations.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { type Person, projectUrl } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'
import { answerOf, buildDesk, deskOrigin, type Files } from './built.ts'

let files: Promise<Files> | undefined
const built = () => files ??= buildDesk(projectUrl)

/** Serves the desk at an origin to a browser context or page. */
export async function serve(to: BrowserContext | Page, origin = deskOrigin) {
  const files = await built()
  await to.route(`${origin}/**`, (route) => route.fulfill(answerOf(files, route.request().url())))
}

export type Language = 'ar' | 'en'
type Opened = BrowserContextOptions & { language?: Language; origin?: string; clock?: boolean }

/** The faults seen in a page, and the origins that received requests from it. */
export type Watched = { faults: string[]; asked: Set<string> }

const watched = new WeakMap<Page, Watched>()
export const seenBy = (page: Page): Watched => watched.get(page)!

/** Opens the desk in a browser context of its own, by default in English. */
export async function openDesk(
  browser: Browser,
  { language = 'en', origin = deskOrigin, clock, ...device }: Opened = {},
): Promise<Page> {
  const context = await browser.newContext({
    locale: language === 'ar' ? 'ar-KW' : 'en-GB',
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    ...device,
  })
  await serve(context, origin)
  await context.addInitScript((language) => {
    localStorage.setItem('desk.language', language)
  }, language)
  await context.addInitScript(listen)
  const page = await context.newPage()
  page.setDefaultTimeout(240_000)
  const seen: Watched = { faults: [], asked: new Set() }
  watched.set(page, seen)
  page.on('pageerror', (error) => seen.faults.push(String(error)))
  page.on('dialog', (dialog) => {
    seen.faults.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted|Refused to/i.test(message.text())) {
      seen.faults.push(message.text())
    }
  })
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (/^(https?|wss?):$/.test(protocol)) seen.asked.add(origin)
  })
  context.on('page', (other) => seen.faults.push(`another page: ${other.url()}`))
  if (clock) await page.clock.install()
  await page.goto(origin)
  return page
}

const words = {
  ar: {
    identifier: 'رقم الهاتف أو البريد',
    password: 'كلمة المرور',
    signIn: 'تسجيل الدخول',
    rooms: 'الأقسام',
  },
  en: { identifier: 'Phone or email', password: 'Password', signIn: 'Sign in', rooms: 'Rooms' },
}

export async function signInAt(
  page: Page,
  { identifier, password }: Pick<Person, 'identifier' | 'password'>,
  language: Language = 'en',
) {
  const said = words[language]
  await page.getByLabel(said.identifier).fill(identifier)
  await page.getByLabel(said.password).fill(password)
  await page.getByRole('button', { name: said.signIn }).click()
  await page.getByRole('navigation', { name: said.rooms }).waitFor()
}

/** Opens the desk with an administrator signed in. */
export async function deskOf(browser: Browser, person: Person, how: Opened = {}): Promise<Page> {
  const page = await openDesk(browser, how)
  await signInAt(page, person, how.language)
  return page
}

export const goTo = (page: Page, path: string) =>
  page.evaluate((path) => void (location.hash = path), path)

/** Leaves the queue for another page, which sends pending decisions at once. */
export const leaveQueue = (page: Page) => goTo(page, '/figures')

export async function openItem(page: Page, id: string, title: string) {
  await goTo(page, `/queue/${id}`)
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
}

/** Waits until the opened page has loaded all of its data. */
export async function loaded(page: Page) {
  await page.evaluate(async () => {
    for (let frame = 0; frame < 4; frame++) await new Promise(requestAnimationFrame)
  })
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
  await page.locator('h1').waitFor()
}

/** Returns whether anything dark or coloured is drawn on the canvas of this name. */
export const isDrawn = (page: Page, name: string) =>
  page.getByRole('img', { name }).evaluate((canvas) => {
    const { width, height } = canvas as HTMLCanvasElement
    const context = (canvas as HTMLCanvasElement).getContext('2d')
    const { data } = context!.getImageData(0, 0, width, height)
    return data.some((value, at) => at % 4 === 0 && data[at + 3]! > 0 && value < 128)
  })

/** Presses a key until its dialog opens, because a page binds its keys only after it has rendered. */
export const openBy = (page: Page, key: string, name?: string) =>
  waitUntil(`${key} opens a dialog`, async () => {
    const dialog = page.getByRole('dialog', { name })
    if (!await dialog.isVisible()) await page.keyboard.press(key)
    return await dialog.isVisible()
  })

/** Waits until a live region announces the text, after the announcement that the previous call found. */
export const told = (page: Page, text: string | RegExp) =>
  waitUntil(`it says ${text}`, () =>
    page.evaluate((text) => {
      const { said } = globalThis as unknown as { said: string[] }
      const at = said.findIndex((one) =>
        typeof text === 'string' ? one.includes(text) : text.test(one)
      )
      said.splice(0, at + 1)
      return at >= 0
    }, text))

/** Runs in each page. Records the announcements of its live regions, which disappear after a few seconds. */
function listen() {
  const said: string[] = []
  const hear = () => {
    for (const { textContent: text } of document.querySelectorAll('[role=status]')) {
      if (text && text !== said.at(-1)) said.push(text)
    }
  }
  new MutationObserver(hear)
    .observe(document, { childList: true, subtree: true, characterData: true })
  Object.assign(globalThis, { said })
}

/** Enters the password in the dialog that asks for re-authentication, in English. */
export async function provePassword(page: Page, { password }: Person) {
  const dialog = page.getByRole('dialog', { name: 'Prove that it is you' })
  await dialog.getByLabel('Password').fill(password)
  await page.keyboard.press('Enter')
  await dialog.waitFor({ state: 'detached' })
}

/** Returns everything that the page has stored in the browser. */
export const keptBy = (page: Page) =>
  page.evaluate(async () => ({
    session: { ...sessionStorage },
    local: { ...localStorage },
    cookies: document.cookie,
    databases: (await indexedDB.databases()).map(({ name }) => name),
    caches: await caches.keys(),
  }))
