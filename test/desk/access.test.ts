// Who can sign in to the desk, which data of the session it stores, and how the session ends.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '../client/browser.ts'
import { demote, signUpAdmin } from '../support/admins.ts'
import { baseUrl, projectUrl, signUp } from '../support/client.ts'
import { buildDesk } from './built.ts'
import { deskOf, goTo, keptBy, openDesk, seenBy, signInAt } from './desk.ts'

let browser: Browser

beforeAll(async () => {
  if (hasBrowser) browser = await openBrowser()
})
afterAll(() => browser?.close())

test('the desk stays small enough to be known', () => {
  const lines = readdirSync('desk', { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(tsx?|html|css)$/.test(name) && !name.startsWith('dist'))
    .map((name) => readFileSync(join('desk', name), 'utf8').split('\n').length - 1)
  expect(lines.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(3000)
})

test('ADM-34 its page loads and sends nowhere but to itself and the service', async () => {
  const html = `${(await buildDesk(projectUrl)).get('index.html')}`
  const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
  const rules = Object.fromEntries(
    policy.split('; ').map((rule) => {
      const [name = '', ...values] = rule.split(' ')
      return [name, values.sort()]
    }),
  )
  const { origin } = new URL(projectUrl)
  expect(rules).toMatchObject({
    'default-src': [`'none'`],
    'script-src': [`'self'`],
    'style-src': [`'self'`],
    'img-src': [`'self'`, 'blob:', 'data:', origin].sort(),
    'connect-src': [`'self'`, origin].sort(),
    'worker-src': [`'self'`],
    'font-src': [`'self'`],
    'form-action': [`'none'`],
    'base-uri': [`'none'`],
  })
  expect(html).toMatch(/<meta name="referrer" content="no-referrer">/)
  expect(html).not.toMatch(/<script(?![^>]* src=)[^>]*>|\son\w+=|\sstyle=|<style/)
})

describe.runIf(hasBrowser)('ADM-33 signing in', () => {
  test('is refused in words with a wrong password, and is for administrators alone', async () => {
    const [admin, person] = await Promise.all([signUpAdmin(), signUp()])
    const page = await openDesk(browser, { language: 'ar' })
    await page.getByLabel('رقم الهاتف أو البريد').fill(admin.identifier)
    await page.getByLabel('كلمة المرور').fill('Diwaniya-2027')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: /./ }).waitFor()
    expect(await page.getByLabel('رقم الهاتف أو البريد').inputValue()).toBe(admin.identifier)
    await page.getByLabel('كلمة المرور').fill(person.password)
    await page.getByLabel('رقم الهاتف أو البريد').fill(person.identifier)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'هذا الحساب ليس لمدير' }).waitFor()
    await page.getByRole('button', { name: 'خروج' }).click()
    await signInAt(page, admin, 'ar')
    expect(await page.evaluate(() => document.documentElement.dir)).toBe('rtl')
    await page.getByRole('button', { name: 'English' }).click()
    await page.getByRole('navigation', { name: 'Rooms' }).waitFor()
    expect(await page.evaluate(() => [document.documentElement.dir, document.documentElement.lang]))
      .toEqual(['ltr', 'en'])
    expect(seenBy(page).faults).toEqual([])
  })

  test('ADM-34 keeps the session in sessionStorage alone, and forgets it at the end', async () => {
    const admin = await signUpAdmin()
    const page = await deskOf(browser, admin)
    const { session, ...elsewhere } = await keptBy(page)
    expect(JSON.stringify(session)).toMatch(/refreshToken/)
    expect(elsewhere).toEqual({
      local: { 'desk.language': 'en', 'desk.theme': 'auto' },
      cookies: '',
      databases: [],
      caches: [],
    })
    await page.reload()
    await page.getByRole('navigation', { name: 'Rooms' }).waitFor()
    const other = await page.context().newPage()
    await other.goto(page.url())
    await other.getByLabel('Password').waitFor()
    await other.close()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Password').waitFor()
    expect(JSON.stringify((await keptBy(page)).session)).not.toMatch(/[Tt]oken/)
  })

  test('ends after half an hour without a key or pointer, and says so a minute before', async () => {
    const page = await deskOf(browser, await signUpAdmin(), { clock: true })
    await page.clock.fastForward('25:00')
    await page.mouse.move(10, 10)
    await page.clock.fastForward('29:10')
    await page.getByRole('dialog', { name: 'Are you still here?' }).waitFor()
    await page.getByRole('button', { name: 'Yes, go on' }).click()
    await page.clock.fastForward('28:50')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await page.clock.fastForward('01:20')
    await page.getByText('The session ended after 30 minutes without use.').waitFor()
    expect(JSON.stringify((await keptBy(page)).session)).not.toMatch(/[Tt]oken/)
  })

  test('ends with the right, wherever one is', async () => {
    const admin = await signUpAdmin()
    const page = await deskOf(browser, admin, { language: 'en' })
    await demote(admin)
    await goTo(page, '/audit')
    await page.getByText(/administrator/i).first().waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'This account is no administrator’s' }).waitFor()
  })
})

describe.runIf(hasBrowser)('ADM-33 where the network is away', () => {
  test('it says so, loads again when asked to, and stays signed in', async () => {
    const page = await deskOf(browser, await signUpAdmin())
    await page.context().setOffline(true)
    await goTo(page, '/people')
    await page.getByText('No connection. What you typed stays.').first().waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('list').first().waitFor()
    expect(seenBy(page).faults).toEqual([])
  })

  test('what fails says in the words of the service why, and can be tried again', async () => {
    const page = await deskOf(browser, await signUpAdmin(), { language: 'ar' })
    let fails = true
    await page.route(`${baseUrl}/admin/audit**`, async (route) => {
      if (!fails) return await route.continue()
      const error = {
        code: 'unavailable',
        message: 'الخدمة غير متاحة الآن',
        messageEn: 'Not available now',
        fields: [],
        requestId: 'f0000000-0000-4000-8000-000000000000',
      }
      await route.fulfill({
        status: 503,
        json: { error },
        headers: { 'access-control-allow-origin': '*' },
      })
    })
    await goTo(page, '/audit')
    await page.getByRole('alert').filter({ hasText: 'الخدمة غير متاحة الآن' }).waitFor()
    fails = false
    await page.getByRole('button', { name: 'أعد المحاولة' }).click()
    await page.getByRole('list').first().waitFor()
  })
})
