// ADM-33: the forms for plans, the figures, the audit trail, and lists that are saved as files.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPlan } from '../billing/purchases.ts'
import { hasBrowser, openBrowser } from '../client/browser.ts'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, signUp } from '../support/client.ts'
import { waitUntil } from '../support/wait.ts'
import { statusOf } from '../admin/requests.ts'
import { deskOf, goTo, provePassword, seenBy, told } from './desk.ts'

let browser: Browser

beforeAll(async () => {
  if (hasBrowser) browser = await openBrowser()
})
afterAll(() => browser?.close())

describe.runIf(hasBrowser)('ADM-33 settings and lists', () => {
  test('the form of a plan that another has changed meanwhile says so, and keeps what was typed', async () => {
    const [admin, other, plan] = await Promise.all([signUpAdmin(), signUpAdmin(), newPlan()])
    const name = `Trial ${randomUUID().slice(0, 8)}`
    await database().query('update public.plans set name_en = $2 where id = $1', [plan, name])
    const planNow = async () =>
      (await admin.get('/admin/plans')).body.items.find(({ id }: { id: string }) => id === plan)
    const page = await deskOf(browser, admin)
    await goTo(page, '/settings/plans')
    await page.getByRole('row', { name }).getByRole('button').click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Price (KWD)').fill('12.5')
    const { version } = await planNow()
    expect((await other.patch(`/admin/plans/${plan}`, { version, activeListings: 9 })).status).toBe(
      200,
    )
    await form.getByRole('button', { name: 'Save' }).click()
    await provePassword(page, admin)
    await form.getByRole('alert').filter({ hasText: /./ }).waitFor()
    expect(await planNow()).toMatchObject({ price: 10, activeListings: 9 })
    expect(
      await form.getByRole('row', { name: 'Active listings' }).getByRole('cell').allInnerTexts(),
    )
      .toEqual(['7', '9', '7'])
    expect(await form.getByLabel('Price (KWD)').inputValue()).toBe('12.5')
    await form.getByRole('button', { name: 'Keep what I typed, over the new one' }).click()
    await form.getByRole('button', { name: 'Save' }).click()
    await told(page, 'Saved.')
    expect(await planNow()).toMatchObject({ price: 12.5, activeListings: 9 })
    const [entry] = await auditOf(admin, plan)
    expect(entry).toMatchObject({ action: 'plan.changed', actor: { id: admin.id } })
    expect(seenBy(page).faults).toEqual([])
    await database().query('update public.plans set on_sale = false where id = $1', [plan])
  })

  test('what an administrator did is found in the trail, with what it was and became', async () => {
    const [admin, person] = await Promise.all([signUpAdmin('سلمى الخالد'), signUp()])
    await statusOf(admin, person.id, { status: 'suspended', reason: 'إعلانات مكررة جدا' })
    const page = await deskOf(browser, admin, { language: 'ar' })
    await goTo(page, '/audit')
    await page.locator('select').first().waitFor()
    await page.locator('input[type=search]').fill(person.id)
    await page.keyboard.press('Enter')
    const rows = page.getByRole('main').getByRole('listitem')
    await waitUntil(
      'its entries alone are there',
      async () =>
        await rows.count() === 1 && (await rows.innerText()).includes('إعلانات مكررة جدا'),
    )
    await rows.getByText('سلمى الخالد').waitFor()
    await rows.getByText(/active.*suspended/).first().waitFor()
    // The queue links to this URL.
    await goTo(page, `/audit?targetId=${admin.id}`)
    await waitUntil('another is looked for', async () => await rows.count() === 0)
    expect(await page.locator('input[type=search]').inputValue()).toBe(admin.id)
  })

  test('a list of people is saved as a file with a proof, as it is filtered', async () => {
    const [admin, person] = await Promise.all([signUpAdmin(), signUp('غنيمة الفرحان')])
    const page = await deskOf(browser, admin)
    await goTo(page, '/people')
    await page.getByLabel('Find a person').fill(person.identifier)
    await page.getByRole('listitem').filter({ hasText: person.identifier }).waitFor()
    await waitUntil(
      'it is the only one',
      async () => await page.getByRole('main').getByRole('listitem').count() === 1,
    )
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: /CSV/ }).click()
    await provePassword(page, admin)
    const file = await saved
    expect(file.suggestedFilename()).toMatch(/^users-\d{4}-\d\d-\d\d\.csv$/)
    const lines = readFileSync(await file.path(), 'utf8').trim().split('\r\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('غنيمة الفرحان')
  })

  test('figures are shown by day, as numbers too', async () => {
    const page = await deskOf(browser, await signUpAdmin())
    await goTo(page, '/figures')
    await page.getByRole('heading', { level: 1, name: 'Figures' }).waitFor()
    await page.locator('summary').first().click()
    await page.getByRole('table').first().waitFor()
    expect(await page.getByRole('row').count()).toBeGreaterThan(7)
    expect(seenBy(page).faults).toEqual([])
  })
})
