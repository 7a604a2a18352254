import { expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { alarmsAbout, findPlan, giveMoney, topUpInvoice, walletOf } from '../support/money.ts'
import { bulk } from '../support/nightly.ts'

test('a wallet that was never used is empty', async () => {
  const person = await signUp()
  expect((await person.get('/wallet')).body).toEqual({ available: 0, held: 0, currency: 'KWD' })
  expect((await person.get('/wallet/transactions')).body).toEqual({ items: [], nextCursor: null })
})

test.each([0, 0.999, 1000.001, -1, 1.0005, 1e6])('INP-04 nobody tops up by %s', async (amount) => {
  const person = await signUp()
  expect(await person.post('/wallet/topup', { amount }))
    .toMatchObject({ status: 422, body: { error: { code: 'amount_out_of_range' } } })
})

test.each(['1', '1.0', '1000', '1000.000', '1.001', '999.999', '12.345'])(
  'INP-06 a top-up of %s is exactly that',
  async (amount) => {
    const person = await signUp()
    const invoice = await topUpInvoice(person, amount)
    const { rows } = await database().query(
      'select total::text, number from public.invoices where id = $1',
      [invoice.id],
    )
    expect(Number(rows[0].total)).toBe(Number(amount))
    expect(invoice.number).toMatch(/^INV-\d{4}-\d{6,}$/)
    expect(invoice).toMatchObject({ state: 'open', total: Number(amount), payments: [] })
  },
)

test('INP-04 a top-up that is not a number is refused', async () => {
  const person = await signUp()
  for (const amount of ['"10"', 'null', '[]', '1e400']) {
    expect((await person.post('/wallet/topup', `{"amount":${amount}}`)).status).toBe(422)
  }
})

const times = bulk(10_000, 1000)
const sum = (times / 1000).toFixed(3)

test(`WAL-03 a thousandth ${times} times is exactly ${sum}`, async () => {
  const person = await signUp()
  const { rows: [{ id }] } = await database().query(
    'select private.wallet_of($1) as id',
    [person.identityId],
  )
  const move = async (from: string, to: string) => {
    for (let moved = 0; moved < times / 2; moved += 250) {
      await database().query(
        `select count(private.move_money(${from}, ${to}, 0.001, 'adjustment', 'adjustment',
           gen_random_uuid())) from generate_series(1, 250)`,
        [id],
      )
    }
  }
  const adjustments = `private.system_account('adjustments')`
  for (const expected of [times / 2000, times / 1000]) {
    await move(adjustments, '$1')
    expect((await walletOf(person)).available).toBe(expected)
  }
  const exact = async () =>
    (await database().query('select balance::text from public.wallets where id = $1', [id])).rows[0]
      .balance
  expect(await exact()).toBe(sum)
  await move('$1', adjustments)
  await move('$1', adjustments)
  expect(await exact()).toBe('0.000')
  await expect(move('$1', adjustments)).rejects.toMatchObject({ message: 'wallet_insufficient' })
})

test('the ledger is listed newest first, page by page, to its owner only', async () => {
  const [person, other] = await Promise.all([signUp(), signUp()])
  for (const amount of [5, -1, -0.5, 2.25]) await giveMoney(person.identityId, amount)
  await giveMoney(other.identityId, 1)
  const first = (await person.get('/wallet/transactions?limit=3')).body
  expect(first.items.map(({ amount }: { amount: number }) => amount)).toEqual([2.25, -0.5, -1])
  expect(first.items.map((one: { balanceAfter: number }) => one.balanceAfter))
    .toEqual([5.75, 3.5, 4])
  const rest = (await person.get(`/wallet/transactions?limit=3&cursor=${first.nextCursor}`)).body
  expect(rest).toMatchObject({ items: [{ amount: 5, kind: 'adjustment' }], nextCursor: null })
  expect((await other.get(`/wallet/transactions?cursor=${first.nextCursor}`)).status).toBe(422)
})

test('the plan catalogue is what these tests rely on', async () => {
  const person = await signUp()
  expect(await findPlan(person, 'plus')).toMatchObject({ price: 5, activeListings: 10 })
  expect(await alarmsAbout('nothing')).toEqual([])
})
