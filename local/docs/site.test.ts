import { readFileSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe as group, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '../../test/client/browser.ts'
import { isNightly } from '../../test/support/nightly.ts'
import { waitUntil } from '../../test/support/wait.ts'
import { textFile, textFiles } from './llms.ts'
import { describe } from './openapi.ts'
import { readPage } from './sections.ts'
import { siteFile, siteFiles } from './site.ts'

const pages = siteFiles.filter((name) => name.endsWith('.html'))
// The reference takes longer to draw than all other pages, so by day only the test of the search opens it.
const some = pages.filter((name, at) => isNightly || at % 6 === 0 && name !== 'reference.html')
const descriptions = ['openapi.json', 'asyncapi.json']

test('every link between its pages leads to a page and to what is on it', () => {
  for (const name of pages) {
    for (const [, link] of siteFile(name)!.matchAll(/ (?:href|src)="(?!https:|data:)([^"]*)"/g)) {
      const [file, id] = link!.split('#')
      expect([...siteFiles, ...descriptions, ''], `${name}: ${link}`).toContain(file)
      if (id) expect(siteFile(file || name), `${name}: ${link}`).toContain(` id="${id}"`)
    }
  }
})

test('llms.txt and the pages as written lead to files that are there', () => {
  for (const name of textFiles) {
    for (const [, link] of textFile(name)!.matchAll(/\]\((?!https:)([^)#]+)/g)) {
      expect([...textFiles, ...descriptions], `${name}: ${link}`).toContain(link)
    }
  }
})

test('headings have the ids that GitHub gives them, and their texts are found without marks', () => {
  const { html, sections } = readPage(
    '# A `b`\n\n## 8. Media, admin *c*\n\n[d](e) **f**\n\n| `g` | |\n|---|---|\n| `h` | ى |\n',
  )
  expect(sections).toEqual([
    { id: 'a-b', depth: 1, title: 'A b', blocks: [] },
    { id: '8-media-admin-c', depth: 2, title: '8. Media, admin *c*', blocks: ['d f', 'h\nى'] },
  ])
  expect(html).toContain('<td data-label="g"><bdi><code>h</code></bdi></td>')
})

const origin = 'http://docs.example'
const openapi = hasBrowser ? describe() : ''

group.runIf(hasBrowser)('in Chromium', () => {
  let browser: Awaited<ReturnType<typeof openBrowser>>
  beforeAll(async () => (browser = await openBrowser()))
  afterAll(() => browser.close())

  async function open(name: string, [width, height]: [number, number]) {
    const context = await browser.newContext({ viewport: { width, height } })
    const page = await context.newPage()
    page.setDefaultTimeout(240_000)
    const faults: string[] = []
    await page.route('**/*', async (route) => {
      const { origin: requested, pathname } = new URL(route.request().url())
      const file = requested === origin ? pathname.slice(1) : ''
      const body = descriptions.includes(file) ? openapi : siteFile(file)
      if (body === undefined) {
        faults.push(route.request().url())
        return await route.abort()
      }
      const type = file.endsWith('.js') ? 'text/javascript' : 'text/html'
      await route.fulfill({ body, contentType: `${type}; charset=utf-8` })
    })
    page.on('pageerror', ({ message }) => faults.push(message))
    await page.goto(`${origin}/${name}`)
    return { page, faults, close: () => context.close() }
  }

  async function expectFits(page: Page) {
    const [scroll, client] = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.documentElement
      return [scrollWidth, clientWidth]
    })
    expect(scroll, page.url()).toBe(client)
  }

  const phone: [number, number] = [390, 844]
  const desk: [number, number] = [1440, 900]

  test.each([phone, desk])('pages fit %i × %i, and ask nobody else', async (...size) => {
    for (const name of some) {
      const { page, faults, close } = await open(name, size)
      if (name === 'reference.html') await page.waitForSelector('[id="tag/feed"]')
      await expectFits(page)
      expect(faults, name).toEqual([])
      await close()
    }
  })

  /** Waits until the page has scrolled and the element is inside the viewport. */
  const isSeen = (shown: Locator) =>
    waitUntil('it is on the screen', async () => {
      const box = await shown.boundingBox()
      const { height, top } = await shown.page().evaluate(() => ({
        height: innerHeight,
        top: scrollY,
      }))
      return top > 0 && box !== null && box.y > -1 && box.y < height
    })

  test('a page without contents is as wide as one with them', async () => {
    const widths = ['apps-devices.html', 'apps-pushes.html'].map(async (name) => {
      const { page, close } = await open(name, desk)
      const box = await page.locator('main').boundingBox()
      await close()
      return box!.width
    })
    const [without, beside] = await Promise.all(widths)
    expect(without).toBe(beside)
  })

  test('the search finds words of every page and leads to them', async () => {
    const { page, faults, close } = await open('index.html', phone)
    const results = page.locator('.results a')
    await page.locator('input[type=search]').fill('quota_exceeded')
    const errors = results.filter({ has: page.getByText('Errors', { exact: true }) }).first()
    await errors.click()
    await page.waitForURL(/errors\.html/)
    await isSeen(page.getByText('quota_exceeded', { exact: true }))

    // The search finds Arabic in any spelling, and the API's routes too.
    await page.locator('input[type=search]').fill('صيغه الطلب')
    await results.first().waitFor()
    expect(await results.first().textContent()).toContain('صيغة الطلب')
    await page.locator('input[type=search]').fill('map/areas get')
    await results.filter({ hasText: 'GET /map/areas' }).first().click()
    await page.waitForURL(/reference\.html#tag\/map\/operation\/list_map_areas/)
    await isSeen(page.locator('[id="tag/map/operation/list_map_areas"] h2').first())
    await expectFits(page)

    await page.locator('input[type=search]').fill('qwertyuiop')
    await page.getByText('Nothing has all these words.').waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('.results').isVisible()).toBe(false)
    expect(faults).toEqual([])
    await close()
  })

  test('contents are closed on a phone and lead to a section; code is copied as it is', async () => {
    const { page, close } = await open('index.html', phone)
    const section = page.locator('.contents').getByText('The search box')
    expect(await section.isVisible()).toBe(false)
    await page.getByText('On this page').click()
    await section.click()
    await isSeen(page.getByRole('heading', { name: 'The search box' }))
    expect(await section.isVisible()).toBe(false)
    await page.setViewportSize({ width: desk[0], height: desk[1] })
    await section.waitFor()

    // A page at an insecure address has no navigator.clipboard, so it copies with execCommand.
    await page.evaluate(() => {
      addEventListener('copy', () => (document.title = String(getSelection()) || copied()))
      const copied = () => (document.activeElement as HTMLTextAreaElement).value
    })
    await page.locator('.code button').first().click()
    await page.getByText('Copied').waitFor()
    const [, first] = /^```sh\n(.*?)^```/ms.exec(readFileSync('docs/apps.md', 'utf8'))!
    expect((await page.title()).replace(/\s+/g, ' ').trim())
      .toBe(first!.replace(/\s+/g, ' ').trim())
    await close()
  })
})
