// ADM-33: administrators find, view and suspend people, refund payments and pay money out.
import { randomUUID } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasBrowser, openBrowser } from '../client/browser.ts'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, newPhone, type Person, projectUrl, signUp } from '../support/client.ts'
import { givePhone, proveEmail } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { giveMoney, hasSandbox, topUp, walletOf } from '../support/money.ts'
import { waitUntil } from '../support/wait.ts'
import { addAuthenticator } from './authenticator.ts'
import { deskOf, goTo, provePassword, seenBy, told } from './desk.ts'

let browser: Browser

beforeAll(async () => {
  if (hasBrowser) browser = await openBrowser()
})
afterAll(() => browser?.close())

const inArabicDigits = (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))

/** Fills in the fields of the dialog for an act and confirms it. */
async function confirm(page: Page, act: string, fields: Record<string, string> = {}) {
  const dialog = page.getByRole('dialog', { name: act })
  for (const [label, value] of Object.entries(fields)) {
    await dialog.getByLabel(label).fill(value)
  }
  const sure = dialog.getByLabel('I know that this cannot be undone')
  if (await sure.count()) await sure.check()
  await dialog.getByRole('button', { name: act }).click()
}

describe.runIf(hasBrowser)('ADM-33 people', () => {
  test('one is found by a phone however it is typed, and seen on one page', async () => {
    const [admin, person] = await Promise.all([signUpAdmin(), signUp('دلال المهنا')])
    const phone = newPhone()
    await givePhone(person, phone)
    const { refNo } = await publishListing(person, { titleAr: 'فيلا زاوية في السالمية' })
    const page = await deskOf(browser, admin, { language: 'ar' })
    await goTo(page, '/people')
    const spoken = `${phone.slice(0, 4)} ${phone.slice(4)}`
    const forms = [`+965 ${spoken}`, `\u200f${inArabicDigits(spoken)}`, `00965${phone}`, refNo]
    for (const form of forms) {
      await page.getByLabel('بحث عن شخص').fill(form)
      const row = page.getByRole('list', { name: 'الأشخاص' }).getByRole('listitem')
      await row.filter({ hasText: person.identifier }).waitFor()
      await waitUntil(`${form} finds one`, async () => await row.count() === 1)
      await page.getByLabel('بحث عن شخص').fill('')
      await waitUntil('everybody is listed', async () => await row.count() > 1)
    }
    await page.getByLabel('بحث عن شخص').fill(inArabicDigits(spoken))
    const row = page.getByRole('listitem').filter({ hasText: person.identifier })
    await row.waitFor()
    await row.getByRole('link').first().click()
    await page.getByRole('heading', { name: 'دلال المهنا', level: 1 }).waitFor()
    await page.getByText(refNo).waitFor()
    await page.getByLabel('ملاحظة جديدة (للمديرين وحدهم)').fill('اتصلت وسألت عن الباقة')
    await page.getByRole('button', { name: 'أضف' }).click()
    await page.getByRole('region', { name: 'ملاحظات' }).getByText('اتصلت وسألت عن الباقة').waitFor()
    // Browsers remember URLs, so the search text must not be in them.
    expect(decodeURIComponent(page.url())).not.toContain(phone)
    expect(seenBy(page).faults).toEqual([])
  })

  test('one is suspended with a reason, and by the key U is not any more', async () => {
    const [admin, person] = await Promise.all([signUpAdmin('نورة'), signUp('طلال الهاجري')])
    const page = await deskOf(browser, admin)
    await goTo(page, `/people/${person.id}`)
    await page.getByRole('button', { name: 'Suspend', exact: true }).first().click()
    await confirm(page, 'Suspend', { Reason: 'إعلانات مكررة' })
    await told(page, 'The account is suspended.')
    expect((await person.get('/auth/me')).body.error.code).toBe('account_suspended')
    await page.keyboard.press('u')
    await waitUntil('it is active again', async () => {
      const { body } = await admin.get(`/admin/users/${person.id}`)
      return body.user.status === 'active'
    })
    expect((await auditOf(admin, person.id)).map(({ after }) => after.status)).toEqual([
      'active',
      'suspended',
    ])
  })

  test('nothing can be done to another administrator, or to oneself', async () => {
    const [admin, other] = await Promise.all([signUpAdmin(), signUpAdmin()])
    const page = await deskOf(browser, admin)
    for (const { id } of [admin, other]) {
      await goTo(page, `/people/${id}`)
      await page.getByText(/This is your own account|An administrator’s account/).waitFor()
      expect(await page.getByRole('button', { name: 'Suspend' }).count()).toBe(0)
    }
  })
})

describe.runIf(hasBrowser && hasSandbox)('ADM-33 money', () => {
  const refund = async (page: Page, person: Person, number: string, fields = {}) => {
    await goTo(page, `/people/${person.id}`)
    await page.getByRole('button', { name: number }).click()
    const dialog = page.getByRole('dialog', { name: number })
    await dialog.getByLabel('To', { exact: true }).selectOption('source')
    for (const [label, value] of Object.entries({ Reason: 'طلب العميل', ...fields })) {
      await dialog.getByLabel(label).fill(value)
    }
    await dialog.getByLabel('I know that this cannot be undone').check()
    await dialog.getByRole('button', { name: number }).click()
  }

  test('is refunded to its source with a proof, asked for once and kept nowhere', async () => {
    const [admin, person] = await Promise.all([signUpAdmin(), signUp('عبير الشطي')])
    const [first, second] = [await topUp(person, 10), await topUp(person, 5)]
    const page = await deskOf(browser, admin)
    const proofs = new Set<string>()
    page.on('request', async (request) => {
      const proof = await request.headerValue('x-proof')
      if (proof) proofs.add(proof)
    })
    await refund(page, person, first.number, { 'Amount in dinars': '٤٫٥٠٠' })
    const proving = page.getByRole('dialog', { name: 'Prove that it is you' })
    await proving.getByLabel('Password').fill('Diwaniya-2027')
    await page.keyboard.press('Enter')
    await proving.getByRole('alert').filter({ hasText: /./ }).waitFor()
    await provePassword(page, admin)
    await told(page, /4\.500/)
    await refund(page, person, second.number)
    await told(page, /5\.000/)
    expect(await walletOf(person)).toMatchObject({ available: 5.5 })
    expect(proofs.size).toBe(1)
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }, location.href])
    )
    for (const proof of proofs) expect(kept).not.toContain(proof)
    // After a reload the page no longer has the proof and asks again.
    await page.reload()
    await refund(page, person, first.number, { 'Amount in dinars': '0.5' })
    await proving.waitFor()
    await proving.getByRole('button', { name: 'Close' }).click()
    await proving.waitFor({ state: 'detached' })
    expect(await walletOf(person)).toMatchObject({ available: 5.5 })
    expect(seenBy(page).faults).toEqual([])
  })

  test('is refunded with a passkey, which a copied page on another origin gets no answer of', async () => {
    const [admin, person] = await Promise.all([signUpAdmin('مديرة بمفتاح'), signUp('يوسف العازمي')])
    const invoice = await topUp(person, 10)
    const page = await deskOf(browser, admin)
    const { credentials, copiedTo } = await addAuthenticator(page)
    await goTo(page, '/settings/passkeys')
    await page.getByLabel('Name').fill('مفتاح المكتب')
    await page.getByRole('button', { name: /Add/ }).click()
    await provePassword(page, admin)
    await page.getByText('مفتاح المكتب').waitFor()
    expect((await credentials()).map(({ rpId }) => rpId)).toEqual(['localhost'])
    const { body: { items } } = await admin.get('/auth/passkeys')
    expect(items).toMatchObject([{ name: 'مفتاح المكتب', rpId: 'localhost', lastUsedAt: null }])

    await refund(page, person, invoice.number)
    const proving = page.getByRole('dialog', { name: 'Prove that it is you' })
    await proving.getByRole('button', { name: 'Prove by passkey' }).click()
    await proving.waitFor({ state: 'detached' })
    await told(page, /10\.000/)

    // The copy is the same page at another origin, with the same passkeys and the
    // same responses of the service.
    const copy = await copiedTo('https://desk.evil.example', admin)
    const options = '/functions/v1/api/auth/sudo/options'
    const answer = (page: Page, rpId?: string) =>
      page.evaluate(async ({ url, token, rpId }) => {
        const headers = { authorization: `Bearer ${token}` }
        const json = await (await fetch(url, { method: 'POST', headers })).json()
        const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON({
          ...json,
          timeout: 5000,
        })
        if (rpId !== undefined) publicKey.rpId = rpId
        const asked = navigator.credentials.get({ publicKey })
        return await asked.then((given) => given!.type, (error: Error) => error.name)
      }, { url: projectUrl + options, token: admin.accessToken, rpId })
    expect(await answer(page)).toBe('public-key')
    expect(await answer(copy)).toBe('SecurityError')
    expect(await answer(copy, 'desk.evil.example')).toBe('NotAllowedError')
    expect(seenBy(page).faults.filter((fault) => !fault.startsWith('another page'))).toEqual([])
  })

  test('of a deleted account is paid out once its transfer is noted', async () => {
    const [admin, person] = await Promise.all([signUpAdmin(), signUp('هيا الوقيان')])
    await proveEmail(person)
    await giveMoney(person.identityId, 7.25)
    await person.post('/auth/me/delete', { password: person.password, money: 'refund' })
    await database().query(
      `update public.accounts set delete_at = now() - interval '1 second' where id = $1`,
      [person.id],
    )
    const payout = () =>
      database().query('select id, state, note from public.wallet_payouts where account_id = $1', [
        person.id,
      ]).then(({ rows }) => rows[0])
    await waitUntil('it is deleted', async () => {
      await runJobs()
      return Boolean(await payout())
    })
    const page = await deskOf(browser, admin)
    await goTo(page, '/money/payouts')
    const row = page.getByRole('listitem').filter({ hasText: person.identifier })
    await page.getByRole('list', { name: 'Payouts' }).waitFor()
    const more = page.getByRole('button', { name: 'Show more' })
    await waitUntil('it is listed', async () => {
      if (!await row.count() && await more.count()) await more.click()
      return await row.count() > 0
    })
    await row.getByText(/7\.250/).waitFor()
    await row.getByRole('button', { name: 'Paid out' }).click()
    const note = `NBK ${randomUUID().slice(0, 8)}`
    await confirm(page, 'Paid out', { 'Reference of the transfer': note })
    await provePassword(page, admin)
    await told(page, /7\.250/)
    await row.waitFor({ state: 'detached' })
    expect(await payout()).toMatchObject({ state: 'paid_out' })
    const { body: { items } } = await admin.get(`/admin/audit?targetId=${(await payout()).id}`)
    expect(items[0]).toMatchObject({ reason: note, actor: { id: admin.id } })
  })
})
