// Runs the installed client in headless Chromium, on a page without a bundler.
import { existsSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { InstalledClient } from './installed.ts'

const places = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const executablePath = places.find((location) => existsSync(location))

export const hasBrowser = executablePath !== undefined
if (!hasBrowser) {
  console.log(
    'There is no Chromium here (Debian: apt-get install chromium): the client is not tried in one.',
  )
}

/** An origin from which the local stack accepts requests. */
const origin = 'http://localhost:5173'

const html = `<!doctype html><title>app</title><script type="importmap">{"imports":{
  "kuwait-property-client": "/client/index.js",
  "kuwait-property-client/chat": "/client/chat.js"
}}</script>`

// By default, Chromium does not let a page without a real server access this machine. Without a graphics
// card, maps are rendered by software.
const args = [
  '--no-sandbox',
  '--disable-features=LocalNetworkAccessChecks',
  '--enable-unsafe-swiftshader',
]

export const openBrowser = () => chromium.launch({ executablePath, args })

/**
 * Opens a page with the package and the project's files. Pages of one context share
 * data, like tabs of one browser.
 */
export async function openApp(
  browser: Browser | BrowserContext,
  installed: InstalledClient,
): Promise<Page> {
  const page = await browser.newPage()
  await page.route(`${origin}/**`, async (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname === '/') return await route.fulfill({ contentType: 'text/html', body: html })
    const body = pathname.startsWith('/client/')
      ? installed.read(installed.packed('dist', pathname.slice(8)))
      : stripTypeScriptTypes(installed.read(installed.path(pathname)))
    await route.fulfill({ contentType: 'text/javascript', body })
  })
  await page.goto(origin)
  return page
}

export async function payOnPage(browser: Browser, address: string): Promise<void> {
  const page = await browser.newPage()
  await page.goto(address)
  await page.getByRole('button', { name: 'ادفع الآن' }).click()
  await page.waitForURL(/sandbox\/done/, { waitUntil: 'commit' })
  await page.close()
}
