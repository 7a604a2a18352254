// ADM-33: an administrator's day in the queue.
import { randomUUID } from 'node:crypto'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '../client/browser.ts'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { guest, signUp } from '../support/client.ts'
import { messagesPage, postMessage, startConversation } from '../support/conversations.ts'
import { insertListing } from '../support/fixtures.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadPictures } from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'
import { deskOf, goTo, isDrawn, leaveQueue, openDesk, openItem, seenBy, told } from './desk.ts'
import { leaveChanges, sendPapers, statusOf, waitingCompany, waitingListing } from './waiting.ts'

let browser: Browser

beforeAll(async () => {
  if (hasBrowser) browser = await openBrowser()
})
afterAll(() => browser?.close())

describe.runIf(hasBrowser)('ADM-33 the queue', () => {
  test('a company is approved after its papers were seen, and the trail has which', async () => {
    const [admin, owner] = await Promise.all([signUpAdmin(), signUp('خالد الرشيد')])
    const id = await waitingCompany(owner)
    await sendPapers(owner, id)
    const page = await deskOf(browser, admin, { language: 'ar' })
    await goTo(page, `/queue?accountId=${owner.id}`)
    await page.getByRole('link', { name: 'دار الفنطاس العقارية' }).click()
    await page.getByRole('heading', { level: 1, name: 'دار الفنطاس العقارية' }).waitFor()
    const papers = page.getByRole('region', { name: 'أوراق الترخيص' })
    await papers.getByText('رخصة.pdf').waitFor()
    await waitUntil('the paper is drawn', () => isDrawn(page, 'رخصة.pdf'))
    await waitUntil('the picture is there', () =>
      papers.getByRole('img', { name: 'هوية.jpg' })
        .evaluate((picture) => (picture as HTMLImageElement).naturalWidth === 60))
    await page.keyboard.press('a')
    await told(page, 'اعتُمد.')
    await leaveQueue(page)
    await waitUntil(
      'it is verified',
      async () => (await owner.get(`/auth/identities/${id}`)).body.verified === true,
    )
    const [entry] = await auditOf(admin, id)
    expect(entry).toMatchObject({
      actor: { id: admin.id },
      after: { status: 'active', documents: [{ name: 'رخصة.pdf' }, { name: 'هوية.jpg' }] },
    })
    expect(seenBy(page).faults).toEqual([])
  })

  test('a listing is rejected with a usual reason, by the keyboard alone from sign-in to the end', async () => {
    const [admin, owner] = await Promise.all([signUpAdmin(), signUp('سعد الدوسري')])
    const title = `شاليه ${randomUUID().slice(0, 8)}`
    const id = await waitingListing(owner, title)
    await uploadPictures(owner, [jpeg({ width: 90, height: 60 })], { propertyId: id })
    const page = await openDesk(browser)
    const type = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await page.getByLabel('Phone or email').waitFor()
    const focused = (text: string | RegExp) =>
      waitUntil(`the focus is on ${text}`, () =>
        page.evaluate(() => {
          const at = document.activeElement
          const label = at?.id ? document.querySelector(`label[for="${at.id}"]`)?.textContent : ''
          return `${label} ${at?.getAttribute('aria-label') ?? ''} ${at?.textContent}`
        }).then((said) => said.match(text) !== null))
    const tabTo = async (text: string | RegExp) => {
      for (let presses = 0; presses < 30; presses++) {
        await type('Tab')
        const is = await page.evaluate(() => {
          const at = document.activeElement
          const label = at?.id ? document.querySelector(`label[for="${at.id}"]`)?.textContent : ''
          return `${label} ${at?.textContent}`
        })
        if (is.match(text)) return
      }
      throw new Error(`Tab leads to no ${text}`)
    }
    await tabTo('Phone or email')
    await page.keyboard.insertText(admin.identifier)
    await tabTo('Password')
    await page.keyboard.insertText(admin.password)
    await type('Enter')
    await page.getByRole('list').first().waitFor()
    await type('/')
    await focused('Title, name or note')
    await page.keyboard.insertText(title)
    await type('Enter')
    const rows = page.getByRole('list', { name: 'All' }).getByRole('listitem')
    await waitUntil(
      'it alone is listed',
      async () => await rows.count() === 1 && (await rows.innerText()).includes(title),
    )
    // In an input, typed letters are text; after Esc they are shortcuts again.
    await type('a')
    expect(await page.getByLabel('Title, name or note').inputValue()).toBe(`${title}a`)
    await type('Escape', 'j')
    await focused(title)
    await type('Enter')
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.getByRole('button', { name: 'Picture 1 of 1' }).waitFor()
    await type('r')
    const dialog = page.getByRole('dialog', { name: 'Reject' })
    await dialog.waitFor()
    await type('2')
    const { body: { reasons } } = await admin.get('/admin/moderation?limit=1')
    const [, usual] = reasons.filter(({ kinds }: { kinds: string[] }) => kinds.includes('listing'))
    await waitUntil(
      'the reason is filled in',
      async () =>
        await dialog.getByLabel('The reason, as the person reads it').inputValue() === usual.textAr,
    )
    await type('Enter')
    await told(page, 'Rejected.')
    await type('4')
    await page.getByRole('heading', { level: 1, name: 'Figures' }).waitFor()
    await waitUntil('it is rejected', async () => await statusOf(owner, id) === 'rejected')
    expect((await owner.get(`/properties/${id}`)).body.statusReason).toBe(usual.textAr)
    await type('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await type('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached' })
    expect(seenBy(page).faults).toEqual([])
  })

  test('changes are compared, before beside after, and approved', async () => {
    const [admin, owner] = await Promise.all([signUpAdmin(), signUp()])
    const id = await insertListing(owner.identityId, {
      title_ar: 'بيت زاوية في السالمية',
      price: 185000,
    })
    await leaveChanges(id, { price: 77000.5, titleAr: 'بيت بطن في السالمية' })
    const page = await deskOf(browser, admin)
    await openItem(page, id, 'بيت زاوية في السالمية')
    const row = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
    expect(await row('Title').getByRole('cell').allInnerTexts())
      .toEqual(['بيت زاوية في السالمية', 'بيت بطن في السالمية'])
    expect(await row('Title').locator('mark').allInnerTexts()).toEqual(['زاوية', 'بطن'])
    expect(await row('Price').getByRole('cell').allInnerTexts()).toEqual(['185,000', '77,000.5'])
    await page.keyboard.press('a')
    await told(page, 'Approved.')
    await leaveQueue(page)
    await waitUntil(
      'others see it so',
      async () => (await guest.get(`/properties/${id}`)).body.titleAr === 'بيت بطن في السالمية',
    )
  })

  test('a reported message is hidden from both sides', async () => {
    const [admin, { a, b, conversationId }] = await Promise.all([
      signUpAdmin(),
      startConversation(),
    ])
    const { body: { id } } = await postMessage(
      a,
      conversationId,
      'حوّل العربون إلى هذا الحساب اليوم',
    )
    const { body: report } = await b.post('/reports', {
      targetType: 'message',
      targetId: id,
      reason: 'fraud',
      note: 'يطلب تحويلا قبل المعاينة',
    })
    const page = await deskOf(browser, admin, { language: 'ar' })
    await openItem(page, report.id, 'أحمد العنزي')
    await page.getByText('حوّل العربون إلى هذا الحساب اليوم').waitFor()
    await page.getByText('يطلب تحويلا قبل المعاينة').first().waitFor()
    await page.keyboard.press('r')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('تُخفى الرسالة أو التقييم عن الطرفين.').waitFor()
    await dialog.getByLabel('السبب، كما يقرؤه صاحبه').fill('طلب تحويل خارج الخدمة')
    await page.keyboard.press('Control+Enter')
    await told(page, 'قُبل البلاغ.')
    await leaveQueue(page)
    await waitUntil('nobody reads it', async () => {
      const pages = await Promise.all([a, b].map((person) => messagesPage(person, conversationId)))
      return pages.every(({ items: [message] }) => message.hidden && message.body === '')
    })
    expect(seenBy(page).faults).toEqual([])
  })

  test('what is taken back within five seconds by a key was never sent, what is not is sent once', async () => {
    const [admin, owner] = await Promise.all([signUpAdmin(), signUp()])
    const titles = ['بيت أول للبيع', 'بيت ثان للبيع']
    const [first, second] = [
      await waitingListing(owner, titles[0]),
      await waitingListing(owner, titles[1]),
    ]
    const page = await deskOf(browser, admin, { clock: true })
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/decide')) sent.push(request.url().split('/').at(-2)!)
    })
    await goTo(page, `/queue?accountId=${owner.id}`)
    await page.getByRole('link', { name: titles[0] }).click()
    await page.getByRole('heading', { level: 1, name: titles[0] }).waitFor()
    await page.clock.pauseAt(Date.now() + 60_000)
    const press = async (key: string) => {
      await page.keyboard.press(key)
      await page.clock.runFor(500)
    }
    await press('a')
    // The next item is shown at once.
    await page.getByRole('heading', { level: 1, name: titles[1] }).waitFor()
    await told(page, `Approved. Next: \u2068${titles[1]}\u2069`)
    await page.clock.runFor(4000)
    expect(sent).toEqual([])
    await press('u')
    await told(page, 'The decision was not sent.')
    await page.getByRole('heading', { level: 1, name: titles[0] }).waitFor()
    await page.clock.runFor(60_000)
    expect(sent).toEqual([])
    await press('a')
    await page.getByRole('heading', { level: 1, name: titles[1] }).waitFor()
    await page.clock.runFor(5000)
    await waitUntil('the first is approved', async () => await statusOf(owner, first) === 'active')
    expect(sent).toEqual([first])
    expect(await statusOf(owner, second)).toBe('pending_review')
  })

  test('what is alike is decided together', async () => {
    const [admin, owner] = await Promise.all([signUpAdmin(), signUp()])
    const ids: string[] = []
    for (const at of [1, 2, 3]) ids.push(await waitingListing(owner, `شقة رقم ${at} للبيع`))
    const page = await deskOf(browser, admin)
    await goTo(page, `/queue?accountId=${owner.id}`)
    await page.getByRole('listitem').nth(2).waitFor()
    for (const key of ['j', 'x']) await page.keyboard.press(key)
    await page.getByRole('button', { name: 'Select what is alike' }).click()
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await told(page, '3 decisions.')
    await leaveQueue(page)
    await waitUntil('all are approved', async () => {
      const states = await Promise.all(ids.map((id) => statusOf(owner, id)))
      return states.every((state) => state === 'active')
    })
  })
})
