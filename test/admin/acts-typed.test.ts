import { randomUUID } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { describe, expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signUp } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { buy, newPlan, personWithMoney } from '../billing/purchases.ts'
import { act, why } from './studio.ts'

const read = async (call: string, typed: string) =>
  (await database().query(`select ${call} as read`, [typed])).rows[0].read

describe('ADM-19 an amount', () => {
  const amount = (typed: string) => read('private.typed_amount($1)::text', typed)

  test.each([
    ['4', '4'],
    ['4.5', '4.5'],
    ['4.500', '4.500'],
    ['0.250', '0.250'],
    ['.250', '0.250'],
    ['1250', '1250'],
    ['1.250', '1.250'], // a point is the decimal mark, as in 350.000
    ['٤٫٥', '4.5'],
    ['٤٫٥٠٠', '4.500'],
    ['۴٫۵', '4.5'],
    ['٤.٥', '4.5'],
    ['1٫250', '1.250'],
    ['1٬250', '1250'],
    ['١٬٢٥٠', '1250'],
    ['١٬٢٥٠٫٥٠٠', '1250.500'],
    ['1٬250.500', '1250.500'],
    ['1,250.500', '1250.500'], // the format of receipts
    ['1,250٫5', '1250.5'],
    ['1,250,000', '1250000'],
    ['١٬٢٥٠٬٠٠٠', '1250000'],
    ['4,5', '4.5'],
    ['٤،٥', '4.5'],
    ['15,40', '15.40'],
    [' 4.500\u200f ', '4.500'],
    ['KWD\u00a04.500', '4.500'],
    ['4.500 KD', '4.500'],
    ['٤٫٥٠٠ د.ك.\u200f', '4.500'],
    ['٤ دينار', '4'],
    ['５', '5'],
    ['99999999999.999', '99999999999.999'],
  ])('%s is %s', async (typed, expected) => {
    expect(await amount(typed)).toBe(expected)
  })

  test.each([
    ['1,250', '1250 or 1.250'],
    ['١,٢٥٠', '1250 or 1.250'],
    ['١،٢٥٠', '1250 or 1.250'],
    ['KD 1,250', '1250 or 1.250'],
    ['12,500', '12500 or 12.500'],
    ['0,500', '500 or 0.500'],
    ['1234,500', '1234500 or 1234.500'],
  ])('%s is refused with both readings', async (typed, readings) => {
    await expect(amount(typed)).rejects.toThrow(`is ${readings}: type one of these.`)
  })

  test.each([
    'خمسة',
    '-5',
    '+5',
    '5-',
    '5e3',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '5.',
    '.',
    ',',
    'KWD',
    '1 250',
    '4 500',
    "1'250",
    '1.250,500',
    '1.250.000',
    '1٬250,5',
    '1٬25',
    '12٬50',
    '1,25.5',
    '1,2,3',
    '1,250,00',
    '1000,100.01',
    '26،013,94',
    '0,250.5',
    '4.5.5',
    '4٫5٫5',
    '500 فلس',
    '5 $',
    '5 USD',
    '5²', // NFKC would make it 52
    '①',
    '1½',
    '4.5 + 1',
    'KWD KWD 5 KWD KD',
  ])('%s is no amount', async (typed) => {
    await expect(amount(typed)).rejects.toThrow(
      /^amount ".+" is none in dinars: type it as 4\.500,/,
    )
  })

  test('less than a fils, or more than there is, is refused', async () => {
    for (const typed of ['4.5001', '٠٫٠٠٠١', '1,2500', '4.5000']) {
      await expect(amount(typed), typed).rejects.toThrow('has more than three decimals')
    }
    await expect(amount('100000000000')).rejects.toThrow('is too much.')
    await expect(amount('9'.repeat(300))).rejects.toThrow('is too much.')
    await expect(amount('9'.repeat(3000))).rejects.toThrow('characters at most')
  })

  test('of a refund is kept as it was read', async () => {
    const [person, plan] = await Promise.all([personWithMoney(), newPlan()])
    const invoice = await buy(person, plan)
    const row = await act({
      act: 'refund',
      target: invoice.number,
      to: 'wallet',
      amount: '٤٫٥ د.ك',
      reason: why,
    })
    expect(row).toMatchObject({
      amount: '4.500',
      result: '4.500 KWD to the wallet. This cannot be undone.',
    })
    await expect(
      act({ act: 'refund', target: invoice.id, to: 'wallet', amount: '4.500', reason: why }),
    ).rejects.toThrow('The same was done')
  })
})

describe('ADM-19 a day', () => {
  const day = async (typed: string) => (await read('private.typed_day($1)', typed))?.toISOString()

  const begins = '2027-01-30T21:00:00.000Z' // midnight in Kuwait, when 31 January begins
  test.each([
    ['31/1/2027', begins],
    ['31/01/2027', begins],
    ['31-1-2027', begins],
    ['31.1.2027', begins],
    ['31 / 1 / 2027', begins],
    ['٣١/١/٢٠٢٧', begins],
    ['٣١\u200f/١\u200f/٢٠٢٧', begins], // as browsers format dates
    ['۳۱/۱/۲۰۲۷', begins],
    ['2027-01-31', begins],
    ['2027/1/31', begins],
    ['٢٠٢٧/١/٣١', begins],
    ['2/1/2027', '2027-01-01T21:00:00.000Z'], // the second of January
    ['29/2/2028', '2028-02-28T21:00:00.000Z'],
    ['31/1/2027 14:30', '2027-01-31T11:30:00.000Z'],
    ['٣١/١/٢٠٢٧ ١٤:٣٠', '2027-01-31T11:30:00.000Z'],
    ['31/1/2027 9:05', '2027-01-31T06:05:00.000Z'],
    ['2027-01-31 00:00+03', begins],
    ['2027-01-31 00:00 +03:00', begins],
    ['2027-01-31T00:00:00.123Z', '2027-01-31T00:00:00.123Z'],
    ['2027-01-30 21:00:00+00', begins],
  ])('%s is %s', async (typed, expected) => {
    expect(await day(typed)).toBe(expected)
  })

  test.each([
    '1/31/2027',
    '31/13/2027',
    '30/2/2027',
    '29/2/2027',
    '0/1/2027',
    '32/1/2027',
    '31/1/27',
    '31/1',
    '2027',
    '31/1-2027',
    '31/1/1٢٠٢٧',
    '31 1 2027',
    '31 يناير 2027',
    '31 Jan 2027',
    'tomorrow',
    'غداً',
    'infinity',
    'now',
    '31/1/2027 25:00',
    '31/1/2027 14.30',
    '31/1/2027 2:30 م',
    '31/1/2027 14:30 Europe/Paris',
    '2027-01-31 00:00+99',
    '31/1/2027²',
    '3①/1/2027',
    '31/1/2027; drop table',
  ])('%s is none', async (typed) => {
    await expect(day(typed)).rejects.toThrow(/^until ".+" is no day: type day\/month\/year/)
  })

  test('of a suspension is kept, and said, in the time of Kuwait', async () => {
    const admin = await signUpAdmin()
    const row = (target: string, until: string) =>
      act({ act: 'suspend_account', target, until, reason: why })
    const [one, two] = await Promise.all([signUp(), signUp()])
    expect(await row(one.id, '٣١/١/٢٠٤٠')).toMatchObject({
      until: '2040-01-31 00:00+03',
      result: 'The account is suspended until 2040-01-31 00:00.',
    })
    expect(await row(two.id, '1/2/2040 8:15')).toMatchObject({ until: '2040-02-01 08:15+03' })
    const until = async ({ id }: Person) =>
      Date.parse((await admin.get(`/admin/users/${id}`)).body.user.suspendedUntil)
    expect(await until(one)).toBe(Date.parse('2040-01-30T21:00:00Z'))
    expect(await until(two)).toBe(Date.parse('2040-02-01T05:15:00Z'))
  })
})

test('ADM-19 a version is read in Arabic digits, and no other number is', async () => {
  const seller = await signUp()
  const target = await insertListing(seller.identityId, {
    status: 'pending_review',
    published_at: null,
    expires_at: null,
  })
  const { rows: [{ version }] } = await database().query(
    'select version::text from public.admin_listings_to_review where id = $1',
    [target],
  )
  for (const typed of ['', '-1', '1.0', '1²', 'x', '9'.repeat(10)]) {
    await expect(act({ act: 'approve', target, version: typed }), typed).rejects
      .toThrow(/^version ("|is missing)/)
  }
  const arabic = version.replace(/\d/g, (digit: string) => '٠١٢٣٤٥٦٧٨٩'[Number(digit)])
  expect(await act({ act: 'approve', target, version: ` ${arabic} ` })).toMatchObject({ version })
})

describe('ADM-19 an email whose domain is typed in Unicode', () => {
  test.each([
    'example.com',
    'بريد.كويت',
    'BÜCHER.example',
    'שלום-1.example',
    '日本語.jp',
    'a.bc.éàè-ü.kw',
    '😀.example',
    'xn--mgbb9fbpob.example',
  ])('%s is as functions store it', async (domain) => {
    expect(await read('private.ascii_email($1)', `Noura@${domain}`))
      .toBe(`noura@${domainToASCII(domain)}`)
  })

  test('is an account’s identifier, a target, and found', async () => {
    const [admin, person] = [await signUpAdmin(), await signUp()]
    const written = `${randomUUID()}@بريد.كويت`
    const row = await act({
      act: 'set_identifier',
      target: person.id,
      value: ` \u200f${written}`,
      reason: why,
    })
    expect(row).toMatchObject({ state: 'done', target: person.id })
    const email = written.replace('بريد.كويت', domainToASCII('بريد.كويت'))
    const found = await admin.get(`/admin/users?q=${encodeURIComponent(written)}`)
    expect(found.body.items).toMatchObject([{ id: person.id, email }])
    expect(await act({ act: 'suspend_account', target: written, reason: why }))
      .toMatchObject({ state: 'done', target: person.id })
  })
})
