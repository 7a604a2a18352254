import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type axe from 'axe-core'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe as group, expect, test } from 'vitest'
import { exactly } from '../../functions/api/http/plain-schemas.ts'
import { hasBrowser, openBrowser } from '../../test/client/browser.ts'
import { projectUrl } from '../../test/support/client.ts'
import { bulk, isNightly } from '../../test/support/nightly.ts'
import { waitUntil } from '../../test/support/wait.ts'
import { slowness } from '../../test/suite/slowness.ts'
import { textFile, textFiles } from './llms.ts'
import { describe } from './openapi.ts'
import { type Api, operationsOf } from './reference.ts'
import { readPage } from './sections.ts'
import { serveDocs } from './serve.ts'
import { siteFile, siteFiles } from './site.ts'

const api: Api = exactly(JSON.parse(describe()))
const files = new Map(siteFiles(api).map((name) => [name, siteFile(name, api)!]))
const pages = [...files.keys()].filter((name) => name.endsWith('.html'))
const some = isNightly ? pages : [
  'index.html',
  'contract-search.html',
  'errors.html',
  'reference.html',
  'reference-favorites.html',
]
const descriptions = ['openapi.json', 'asyncapi.json']

test('every link between its pages leads to a page and to what is on it', () => {
  for (const name of pages) {
    for (const [, link] of files.get(name)!.matchAll(/ (?:href|src)="(?!https:|data:)([^"]*)"/g)) {
      const [file, id] = link!.split('#')
      expect([...files.keys(), ...descriptions, ''], `${name}: ${link}`).toContain(file)
      if (id) expect(files.get(file || name), `${name}: ${link}`).toContain(` id="${id}"`)
    }
  }
})

test('every page is light, asks no other host and names each place once', () => {
  for (const [name, text] of files) {
    if (name.endsWith('.html')) expect(text.length, name).toBeLessThan(300_000)
    expect(text, name).not.toMatch(/<(?:script|img|link)[^>]* (?:src|href)="(?:https?:)?\/\//)
    const ids = [...text.matchAll(/<h\d id="([^"]*)"/g)].map(([, id]) => id)
    expect(ids.filter((id, at) => ids.indexOf(id) !== at), name).toEqual([])
  }
})

test('the reference has every operation on the page of its area, with its errors', () => {
  for (const { link, title, operation } of operationsOf(api)) {
    const [file, id] = link.split('#')
    const page = files.get(file!)!
    const part = page.slice(page.indexOf(`<h2 id="${id}"`)).split('<h2 id=')[1]
    expect(part, title).toContain(operation.summary.replaceAll('"', '&quot;'))
    for (const { content } of Object.values(operation.responses)) {
      const codes = Object.keys(content?.['application/json']?.examples ?? {})
      for (const code of codes) expect(part, title).toContain(`<code>${code}</code>`)
    }
  }
})

test('the stack serves it, with its own description; without the functions all but the reference', async () => {
  const statuses = async (project: string, names: string[]) => {
    const server = createServer((request, response) => serveDocs(project, request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const answers = names.map((name) => fetch(`http://127.0.0.1:${port}/docs/${name}`))
    const found = (await Promise.all(answers)).map(({ status }) => status)
    server.close()
    return found
  }
  const names = ['', 'search-index.js', 'reference.html', 'reference-favorites.html.md', 'none']
  expect(await statuses(projectUrl, names)).toEqual([200, 200, 200, 200, 404])
  expect(await statuses('http://127.0.0.1:9', names)).toEqual([200, 200, 503, 503, 404])
})

test('llms.txt and the pages as written lead to files that are there', () => {
  for (const name of textFiles(api)) {
    for (const [, link] of textFile(name, api)!.matchAll(/\]\((?!https:)([^)#]+)/g)) {
      expect([...textFiles(api), ...descriptions], `${name}: ${link}`).toContain(link)
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
const axeScript = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
)

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
      const body = files.get(file)
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
      await expectFits(page)
      expect(faults, name).toEqual([])
      await close()
    }
  })

  test.each([['light', desk], ['dark', phone]] as const)(
    'axe finds nothing where it is %s, and it is so',
    async (colorScheme, size) => {
      for (const name of some) {
        const { page, close } = await open(name, size)
        await page.emulateMedia({ colorScheme })
        await page.evaluate(axeScript)
        const found = await page.evaluate(async () => {
          const { axe: look } = window as unknown as { axe: typeof axe }
          const { violations } = await look.run(document, { resultTypes: ['violations'] })
          return violations.map(({ id, nodes }) =>
            `${id}: ${nodes.map(({ target }) => target.join(' ')).slice(0, 4).join(' | ')}`
          )
        })
        expect(found, name).toEqual([])
        const light = await brightness(page)
        if (colorScheme === 'dark') expect(light, name).toBeLessThan(80)
        else expect(light, name).toBeGreaterThan(200)
        await close()
      }
    },
    bulk(1_500_000, 300_000) * slowness,
  )

  /** Returns how bright the screen is on average, from 0 to 255. */
  async function brightness(page: Page): Promise<number> {
    const shot = (await page.screenshot()).toString('base64')
    return await page.evaluate(async (data) => {
      const image = Object.assign(new Image(), { src: `data:image/png;base64,${data}` })
      await image.decode()
      const canvas = Object.assign(document.createElement('canvas'), { width: 20, height: 20 })
      const context = canvas.getContext('2d')!
      context.drawImage(image, 0, 0, 20, 20)
      const values = context.getImageData(0, 0, 20, 20).data.filter((_, at) => at % 4 < 3)
      return values.reduce((sum, value) => sum + value, 0) / values.length
    }, shot)
  }

  test('wide code and tables are reached and scrolled by keyboard', async () => {
    const { page, close } = await open('reference-favorites.html', phone)
    await page.locator('h2 a').first().focus()
    const [code, table] = ['Code: ts', 'Table: Parameter, In, Type, What it is'].map((name) =>
      page.getByRole('group', { name, exact: true }).first()
    )
    const isFocused = (one: Locator) => one.evaluate((box) => box === document.activeElement)
    for (const one of [table!, code!]) {
      for (let steps = 0; steps < 20 && !await isFocused(one); steps++) {
        await page.keyboard.press('Tab')
      }
      expect(await isFocused(one)).toBe(true)
    }
    await page.keyboard.press('ArrowRight')
    await waitUntil('it has scrolled', () => code!.evaluate((box) => box.scrollLeft > 0))
    await close()
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
    await page.waitForURL(/reference-map\.html#get-mapareas/)
    await isSeen(page.getByRole('heading', { name: 'GET /map/areas', exact: true }))
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
