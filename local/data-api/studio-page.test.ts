import { expect, test } from 'vitest'
import { signUpAdmin } from '../../test/support/admins.ts'
import { signUp } from '../../test/support/client.ts'
import { hasStack } from '../../test/support/facade.ts'
import { hasBrowser, openBrowser } from '../../test/client/browser.ts'
import { studio } from './support/studio-rows.ts'

test.runIf(hasStack && hasBrowser)(
  'the page finds a row, saves status and reason at once, and shows what is refused',
  async () => {
    const admin = await signUpAdmin()
    const person = await signUp()
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      page.setDefaultTimeout(240_000)
      const field = (name: string) =>
        page.locator('#fields label').filter({ hasText: new RegExp(`^${name} `) }).locator(
          'textarea, select',
        )
      const filter = async (column: string, value: string) => {
        await page.locator('tbody tr').first().waitFor()
        await page.selectOption('#column', column)
        await page.fill('#value', value)
        await page.getByRole('button', { name: 'Filter' }).click()
      }
      await page.goto(`${studio}/#public.accounts`)
      await filter('id', person.id)
      await expect.poll(() => page.locator('tbody tr').count()).toBe(1)
      await page.locator('tbody tr').click()
      await field('status').fill('suspended')
      await field('status_reason').fill('من الصفحة')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(() => page.locator('dialog[open]').count()).toBe(0)
      expect((await admin.get(`/admin/users/${person.id}`)).body.user)
        .toMatchObject({ status: 'suspended', statusReason: 'من الصفحة' })

      await page.locator('tbody tr').click()
      await field('status').fill('deleted')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(() => page.locator('#refused').textContent()).toContain('Authentication')
      // The message must be visible after Save, however far the form is scrolled.
      for (const offset of [0, 100_000]) {
        await page.locator('#editor').evaluate((editor, top) => editor.scrollTo({ top }), offset)
        const { y, height } = (await page.locator('#refused').boundingBox())!
        expect(y).toBeGreaterThan(0)
        expect(y + height).toBeLessThanOrEqual(page.viewportSize()!.height)
      }
      await page.getByRole('button', { name: 'Cancel' }).click()

      await page.goto(`${studio}/#public.areas`) // areas has a key of two columns
      await page.locator('#column option[value=governorate_id]').waitFor({ state: 'attached' })
      // The filter belonged to the table shown before, so it is gone.
      expect(await page.inputValue('#value')).toBe('')
      expect(await page.locator('#filters button').count()).toBe(0)
      await filter('id', 'salmiya')
      await expect.poll(() => page.locator('tbody tr').allTextContents())
        .toEqual([expect.stringContaining('salmiya')])
      await page.locator('tbody tr').click()
      await expect.poll(() => field('governorate_id').inputValue()).toBe('hawalli')
      await page.getByRole('button', { name: 'Cancel' }).click()

      // A late response about another table must not be shown.
      const { promise: held, resolve: release } = Promise.withResolvers<void>()
      await page.route(/\/rest\/v1\/accounts\?/, async (route) => {
        await held
        await route.fulfill({ status: 400, json: { message: 'late' } })
      })
      const late = page.waitForResponse(/\/rest\/v1\/accounts\?/)
      await page.goto(`${studio}/#public.accounts`)
      await page.goto(`${studio}/#public.areas`)
      await page.locator('tbody tr').first().waitFor()
      release()
      await (await late).finished()
      // When this request is answered, the page has handled the late response.
      await page.evaluate(async () => await (await fetch('')).text())
      expect(await page.locator('#error').textContent()).toBe('')
      expect(await page.locator('tbody tr').count()).toBeGreaterThan(50)
    } finally {
      await browser.close()
    }
  },
)

test.runIf(hasStack && hasBrowser)(
  'views and acts come first, and an act is chosen, typed, carried out or refused',
  async () => {
    const admin = await signUpAdmin()
    const person = await signUp()
    const browser = await openBrowser()
    try {
      const page = await browser.newPage()
      page.setDefaultTimeout(240_000)
      const field = (name: string) =>
        page.locator('#fields label').filter({ hasText: new RegExp(`^${name} `) }).locator(
          'textarea, select',
        )
      await page.goto(`${studio}/#public.admin_acts`)
      await page.locator('nav a').first().waitFor()
      const names = await page.locator('nav a').allTextContents()
      const first = names.filter((name) => name.startsWith('admin_'))
      expect(first).toContain('admin_properties')
      expect(names.slice(0, first.length)).toEqual(first)

      await page.getByRole('button', { name: 'New row' }).click()
      await expect.poll(() => page.locator('#about').textContent())
        .toContain('Adding a row executes the act')
      expect(await field('act').locator('option').allTextContents()).toEqual(
        expect.arrayContaining([expect.stringContaining('ban_account: ')]),
      )
      await field('act').selectOption('ban_account')
      await field('by').fill(admin.identifier)
      await field('target').fill(person.identifier)
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(() => page.locator('#refused').textContent()).toMatch(/^reason is missing/)
      await field('reason').fill('من الصفحة')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect.poll(() => page.locator('dialog[open]').count()).toBe(0)
      expect((await admin.get(`/admin/users/${person.id}`)).body.user)
        .toMatchObject({ status: 'banned', statusReason: 'من الصفحة' })
    } finally {
      await browser.close()
    }
  },
)
