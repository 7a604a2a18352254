// ADM-33: two administrators view one item, its owner changes it while they do, or the network fails.
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '../client/browser.ts'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { signUp } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'
import { deskOf, goTo, leaveQueue, openItem, told } from './desk.ts'
import { statusOf, waitingListing } from './waiting.ts'

let browser: Browser

beforeAll(async () => {
  if (hasBrowser) browser = await openBrowser()
})
afterAll(() => browser?.close())

describe.runIf(hasBrowser)('ADM-33 two administrators', () => {
  test('the second sees that the first looks at it, until that one leaves', async () => {
    const [first, second, owner] = await Promise.all([
      signUpAdmin('مريم الصباح'),
      signUpAdmin('فهد الراشد'),
      signUp(),
    ])
    const title = 'بيت للبيع في الجهراء'
    const id = await waitingListing(owner, title)
    const one = await deskOf(browser, first)
    await openItem(one, id, title)
    const other = await deskOf(browser, second, { language: 'ar' })
    await goTo(other, `/queue?accountId=${owner.id}`)
    await waitUntil('the claim is there', async () => {
      const { body } = await second.get(`/admin/moderation?accountId=${owner.id}`)
      return body.items[0].claimedBy?.id === first.id
    })
    await other.reload()
    await other.getByRole('listitem').filter({ hasText: 'مريم الصباح' }).waitFor()
    await openItem(other, id, title)
    await other.getByRole('status').filter({ hasText: 'مريم الصباح' }).waitFor()
    expect(await one.getByRole('status').filter({ hasText: 'فهد' }).count()).toBe(0)
    await leaveQueue(one)
    await leaveQueue(other)
    await waitUntil('it is released', async () => {
      const { body } = await second.get(`/admin/moderation?accountId=${owner.id}`)
      return body.items[0].claimedBy === null
    })
    await openItem(other, id, title)
    await waitUntil('the second has it now', async () => {
      const { body } = await first.get(`/admin/moderation?accountId=${owner.id}`)
      return body.items[0].claimedBy?.id === second.id
    })
  })

  test('what was decided meanwhile is said with who and what, and nothing is decided twice', async () => {
    const [first, second, owner] = await Promise.all([
      signUpAdmin('مريم الصباح'),
      signUpAdmin('فهد الراشد'),
      signUp(),
    ])
    const title = 'بيت للبيع في الفحيحيل'
    const id = await waitingListing(owner, title)
    const page = await deskOf(browser, first)
    await openItem(page, id, title)
    const why = 'الصور لا تخص العقار'
    await second.post(`/admin/moderation/${id}/decide`, { decision: 'reject', reason: why })
    await page.keyboard.press('a')
    await told(page, 'Approved.')
    await leaveQueue(page)
    await told(page, /Not decided/)
    await goTo(page, `/queue/${id}`)
    await page.getByText(/Decided: .*فهد الراشد/).waitFor()
    await page.getByText(why).waitFor()
    expect(await statusOf(owner, id)).toBe('rejected')
    expect((await auditOf(first, id)).map(({ actor }) => actor.id)).toEqual([second.id])
  })

  test('what its owner changed meanwhile is not approved unseen', async () => {
    const [admin, owner] = await Promise.all([signUpAdmin(), signUp()])
    const title = 'بيت للبيع في حولي'
    const id = await waitingListing(owner, title)
    const page = await deskOf(browser, admin)
    await goTo(page, `/queue?accountId=${owner.id}`)
    const claimed = page.waitForResponse(/\/claim$/) // its response has the version that is shown
    await page.getByRole('link', { name: title }).click()
    await claimed
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await owner.patch(`/properties/${id}`, { titleAr: 'بيت للبيع في بيان' })
    await page.keyboard.press('a')
    await told(page, /Not decided/)
    await goTo(page, `/queue/${id}?accountId=${owner.id}`)
    await page.getByText('It was changed since you looked. Nothing was decided.').waitFor()
    await page.getByRole('button', { name: 'Show what changed' }).click()
    await page.getByRole('heading', { level: 1, name: 'بيت للبيع في بيان' }).waitFor()
    await page.getByRole('cell', { name: 'بيت للبيع في بيان' }).waitFor()
    expect(await statusOf(owner, id)).toBe('pending_review')
    await page.keyboard.press('a')
    await leaveQueue(page)
    await waitUntil('it is approved', async () => await statusOf(owner, id) === 'active')
  })

  test('offline nothing is lost: what was decided comes back with the reason', async () => {
    const [admin, owner] = await Promise.all([signUpAdmin(), signUp()])
    const title = 'بيت للبيع في مشرف'
    const id = await waitingListing(owner, title)
    const page = await deskOf(browser, admin)
    await goTo(page, `/queue?accountId=${owner.id}`)
    await page.getByRole('link', { name: title }).click()
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.getByLabel('Add a note (for administrators alone)').fill('سألت المالك عن الوثيقة')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByText('No connection. What you typed stays.').first().waitFor()
    expect(await page.getByLabel('Add a note (for administrators alone)').inputValue())
      .toBe('سألت المالك عن الوثيقة')
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('a')
    await told(page, /Not decided/)
    await page.context().setOffline(false)
    await page.getByRole('link', { name: title }).click()
    await page.getByRole('button', { name: 'Show what changed' }).click()
    await page.getByRole('button', { name: 'Approve' }).click()
    await told(page, 'Approved.')
    await waitUntil('it is approved', async () => await statusOf(owner, id) === 'active')
  })
})
