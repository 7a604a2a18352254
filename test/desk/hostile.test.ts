// ADM-34: pages that hold an administrator's token render strangers' input as plain text only.
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '../client/browser.ts'
import { signUpAdmin } from '../support/admins.ts'
import { baseUrl, type Person, projectUrl, signUp } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { insertListing } from '../support/fixtures.ts'
import { topUp } from '../support/money.ts'
import { uploadDocuments } from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'
import { deskOrigin } from './built.ts'
import { deskOf, goTo, isDrawn, keptBy, type Language, loaded, openBy, seenBy } from './desk.ts'
import { hostilePdf } from './pdfs.ts'
import { leaveChanges, oneOfEach, waitingCompany, waitingListing } from './waiting.ts'

let browser: Browser
let admin: Person

beforeAll(async () => {
  if (hasBrowser) [browser, admin] = await Promise.all([openBrowser(), signUpAdmin()])
})
afterAll(() => browser?.close())

const script = 'window.__x=1'
const elsewhere = 'https://evil.example'
const markup = `"'><img src=${elsewhere}/x onerror=${script}><svg onload=${script}>`
const long =
  `<script>${script}</script>${markup}<a href="javascript:${script}">بيت</a>\u202Egnp.exe\u2066 ` +
  `<iframe srcdoc="<script>parent.__x=1</script>"></iframe><style>*{background:url(${elsewhere}/s)}</style>` +
  `{{constructor.constructor('${script}')()}} <!--`

const isClean = async (page: Page) => {
  expect(await page.evaluate(() => '__x' in window)).toBe(false)
  const { faults, asked } = seenBy(page)
  expect(faults).toEqual([])
  expect([...asked].sort()).toEqual([projectUrl, deskOrigin].sort())
  expect(page.context().pages()).toHaveLength(1)
  expect(page.url()).toMatch(new RegExp(`^${deskOrigin}/`))
}

describe.runIf(hasBrowser)('ADM-34 strangers’ content', () => {
  test.each<Language>(['ar', 'en'])(
    'markup stays text in everything that waits, in %s',
    async (language) => {
      const [owner, reporter] = await Promise.all([signUp('خالد الرشيد'), signUp()])
      const titleAr = `بيت ${markup}`
      const titleEn = `House <script>${script}</script> javascript:${script}`
      const descriptionAr = (long.repeat(20)).slice(0, 4000)
      const texts = { title_ar: titleAr, title_en: titleEn, description_ar: descriptionAr }
      const listing = await waitingListing(owner, titleAr, {
        ...texts,
        street: markup.slice(0, 120),
      })
      const changed = await insertListing(owner.identityId, texts)
      await leaveChanges(changed, { titleAr: `فيلا ${markup}`, descriptionAr: long.slice(0, 900) })
      const note = long.repeat(3).slice(0, 1000)
      const { status, body: report } = await reporter.post('/reports', {
        targetType: 'property',
        targetId: changed,
        reason: 'other',
        note,
      })
      expect(status).toBe(201)
      const { a, b, conversationId } = await startConversation()
      const { body: message } = await postMessage(a, conversationId, long)
      const { body: reportOfMessage } = await b.post('/reports', {
        targetType: 'message',
        targetId: message.id,
        reason: 'fraud',
        note: markup,
      })
      for (const [targetType, targetId] of [['property', listing], ['account', owner.id]]) {
        expect((await admin.post('/admin/notes', { targetType, targetId, text: note })).status)
          .toBe(201)
      }
      const page = await deskOf(browser, admin, { language })
      const shown = async (path: string, ...texts: string[]) => {
        await goTo(page, path)
        await loaded(page)
        const all = await page.locator('main').evaluate((main) =>
          main.textContent!.replace(/\s+/g, ' ')
        )
        for (const text of texts) expect(all).toContain(text.replace(/\s+/g, ' ').trim())
        await isClean(page)
      }
      const stored = (await owner.get(`/properties/${listing}`)).body
      expect(stored.titleAr).toBe(titleAr)
      await shown(`/queue?accountId=${owner.id}`, titleAr)
      await shown(`/queue/${listing}`, titleAr, titleEn, stored.descriptionAr, '<img')
      await shown(`/queue/${changed}`, titleAr, `فيلا ${markup}`)
      await shown(`/queue/${report.id}`, titleAr, markup)
      await shown(`/queue/${reportOfMessage.id}`, markup, '<iframe')
      await shown(`/people/${owner.id}`, titleAr, '<script>')
      await shown(`/audit`)
      for (const key of ['Escape', 'r']) await page.keyboard.press(key)
      await goTo(page, `/queue/${listing}`)
      await loaded(page)
      await openBy(page, 'r')
      await page.getByRole('dialog').getByRole('textbox').fill(markup)
      await page.keyboard.press('Control+Enter')
      await shown('/figures')
      await waitUntil(
        'it is rejected',
        async () => (await owner.get(`/properties/${listing}`)).body.status === 'rejected',
      )
      await shown(`/people/${owner.id}`, markup)
      await shown(`/queue/${listing}`, markup)
    },
  )

  test('a paper and its name run, open, load, send and save nothing', async () => {
    const owner = await signUp('خالد الرشيد')
    const company = await waitingCompany(owner)
    const name = `<img src=x onerror=${script}>\u202Efdp.exe`
    const bytes = hostilePdf('LICENCE 4711', { script, url: elsewhere })
    const broken = Buffer.from(`%PDF-1.7\n${long}\ntrailer << /Root 1 0 R >>\n%%EOF`)
    const { status } = await uploadDocuments(owner, company, [
      { name: `${name}.pdf`, type: 'application/pdf', bytes },
      { name: 'broken.pdf', type: 'application/pdf', bytes: broken },
    ])
    expect(status).toBe(201)
    const { body: { items: [{ name: stored }] } } = await owner.get(
      `/auth/identities/${company}/documents`,
    )
    const page = await deskOf(browser, admin)
    let downloads = 0
    page.on('download', () => downloads++)
    await goTo(page, `/queue/${company}`)
    const paper = page.getByRole('img', { name: stored })
    await paper.waitFor()
    await waitUntil('it is drawn', () => isDrawn(page, stored))
    await page.getByText('The document cannot be shown.').waitFor()
    // Clicks every place where the document has a link, a field or an attachment.
    const { width, height } = (await paper.boundingBox())!
    for (let at = 1; at < 8; at++) {
      await paper.click({ position: { x: width / 2, y: height * at / 8 }, force: true })
    }
    expect(await page.locator('iframe, object, embed').count()).toBe(0)
    expect(await paper.evaluate((canvas) => canvas.tagName)).toBe('CANVAS')
    expect(downloads).toBe(0)
    await isClean(page)
  })

  test('addresses and texts of any answer are used only where they are the service’s own', async () => {
    const owner = await signUp()
    const ids = await oneOfEach(owner)
    await topUp(owner, 10)
    const page = await deskOf(browser, admin)
    const codes =
      /^(kind|kinds|decisions|type|targetType|status|state|code|version|to|audience|name|language)$/
    const addresses = [
      `javascript:${script}`,
      `${elsewhere}/x.png`,
      `//evil.example/x`,
      `data:text/html,<script>${script}</script>`,
    ]
    let turn = 0
    // The phone and email of a deleted person are null; they are replaced, too.
    const replaced = (value: unknown, key = ''): unknown =>
      value === null && /^(phone|email)$/.test(key)
        ? markup
        : Array.isArray(value)
        ? value.map((one) => replaced(one, key))
        : value && typeof value === 'object'
        ? Object.fromEntries(
          Object.entries(value).map(([name, one]) => [name, replaced(one, name)]),
        )
        : typeof value !== 'string' || codes.test(key) ||
            /(At|Id|id|since|until|day|Cursor|On)$/.test(key)
        ? value
        : /url$|website/i.test(key)
        ? addresses[turn++ % addresses.length]
        : `${markup}${long}`
    await page.route(`${baseUrl}/admin/**`, async (route) => {
      if (route.request().method() === 'OPTIONS') return await route.continue()
      const response = await route.fetch()
      const json = await response.json().catch(() => undefined)
      await route.fulfill(json === undefined ? { response } : { response, json: replaced(json) })
    })
    const paths = [
      `/queue?accountId=${owner.id}`,
      ...Object.values(ids).map((id) => `/queue/${id}`),
      '/people',
      `/people/${owner.id}`,
      `/money/${owner.id}`,
      '/money/payouts',
      '/money/events',
      '/figures',
      '/settings/plans',
      '/settings/reasons',
      '/audit',
    ]
    for (const path of paths) {
      await goTo(page, path)
      await loaded(page)
      await waitUntil(
        `${path} shows the texts`,
        async () =>
          path === '/figures' || await page.locator('main .empty').count() > 0 ||
          (await page.locator('main').textContent())!.includes(markup),
      )
      await isClean(page)
      const leads = await page.locator('a[href]').evaluateAll((links) =>
        links.map((link) => (link as HTMLAnchorElement).href)
      )
      const own = /^http:\/\/localhost:5174\/|^https:\/\/www\.openstreetmap\.org\//
      expect(leads.filter((href) => !own.test(href)), path).toEqual([])
    }
    const { session } = await keptBy(page)
    expect(Object.keys(session).length).toBeGreaterThan(0)
    expect(JSON.stringify(session)).not.toContain('__x')
  })

  test('what leads away from the desk says nothing of it', async () => {
    const page = await deskOf(browser, admin)
    const links = page.locator('a[target=_blank]')
    const listing = await waitingListing(await signUp())
    await goTo(page, `/queue/${listing}`)
    await links.first().waitFor()
    for (const link of await links.all()) {
      expect(await link.getAttribute('rel')).toContain('noopener')
      expect(await link.getAttribute('rel')).toContain('noreferrer')
      expect(await link.getAttribute('referrerpolicy')).toBe('no-referrer')
    }
  })
})
