import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { build } from 'vite'
import type { Person } from '../support/client.ts'

export const origin = 'http://localhost:5173'

export async function buildExample(service: string): Promise<Map<string, string>> {
  const built = await build({
    configFile: 'examples/vite.config.ts',
    logLevel: 'error',
    define: { 'import.meta.env.VITE_API': JSON.stringify(service) },
    build: { write: false, minify: false },
  })
  const { output } = [built].flat()[0] as { output: ({ fileName: string } & Content)[] }
  return new Map(
    output.map((file) => [file.fileName, 'code' in file ? file.code : `${file.source}`]),
  )
}
type Content = { code: string } | { source: string | Uint8Array }

const types: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  mjs: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}

export type Device = BrowserContextOptions & { language?: 'ar' | 'en' }
export const phone: Device = { viewport: { width: 390, height: 844 }, hasTouch: true }

/** Uncaught errors in pages of the example. */
export const faults: string[] = []

export async function openExample(
  browser: Browser,
  files: Map<string, string>,
  { language, ...device }: Device = {},
): Promise<Page> {
  const context = await browser.newContext({ locale: 'ar-KW', ...device })
  if (language) {
    await context.addInitScript((one) => localStorage.setItem('language', one), language)
  }
  await context.route(`${origin}/**`, async (route) => {
    const name = new URL(route.request().url()).pathname.slice(1) || 'index.html'
    await route.fulfill({ contentType: types[name.split('.').at(-1)!]!, body: files.get(name)! })
  })
  const page = await context.newPage()
  page.setDefaultTimeout(240_000)
  page.on('pageerror', (error) => faults.push(String(error)))
  await page.goto(origin)
  await loaded(page, 'search')
  return page
}

/** Navigates to an address of the app, such as `mine?status=active`, and waits until its page has loaded. */
export async function goTo(page: Page, address: string) {
  await page.evaluate((address) => void (location.hash = `#/${address}`), address)
  await loaded(page, address.split(/[/?]/)[0]!)
}

export const loaded = async (page: Page, name: string) =>
  void await page.waitForFunction((name) => {
    const main = document.querySelector('main')!
    return main.className === name && !main.querySelector('.loading') &&
      main.querySelector('h1, .none')
  }, name)

export async function signIn(page: Page, { identifier, password }: Person) {
  await goTo(page, 'sign-in')
  await page.locator('[name=identifier]').fill(identifier)
  await page.locator('[name=password]').fill(password)
  await page.locator('form.fields button').first().click()
  await page.locator('.who').waitFor()
  await loaded(page, 'search')
}
