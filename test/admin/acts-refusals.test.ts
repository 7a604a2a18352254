import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, signUpAdmin } from '../support/admins.ts'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { insertWaitingCompany } from '../support/fixtures.ts'
import { signUpByPhone } from '../support/codes.ts'
import { publishListing } from '../support/listings.ts'
import { drain } from '../support/jobs.ts'
import { topUpInvoice, walletOf } from '../support/money.ts'
import { refusal } from '../support/problems.ts'
import { arabic, typedForms } from '../support/typed-forms.ts'
import { buy, newPlan, personWithMoney, refund } from '../billing/purchases.ts'
import { act, byHand, leaveChanges, why } from './studio.ts'

type Row = Record<string, unknown>

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

const sentence = /^[A-Za-z"][\s\S]{10,}\.$/
const actsAbout = async (target: string) =>
  (await database().query(
    'select act, state from public.admin_acts where target = $1 order by created_at',
    [target],
  )).rows

describe('a row that cannot be carried out', () => {
  let person: Person
  let listing: string
  let company: string
  let paid: string
  let open: string
  beforeAll(async () => {
    person = await personWithMoney()
    listing = (await publishListing(person)).id
    company = await insertWaitingCompany(person.id)
    paid = (await buy(person, await newPlan())).id
    open = (await topUpInvoice(person)).id
  })
  const past = new Date(Date.now() - 60_000)
  const rows: [string, () => Row, RegExp][] = [
    ['no act', () => ({ target: person.id }), /^act is one of these: activate_account, approve,/],
    ['an unknown act', () => ({ act: 'ban', target: person.id }), /^act is one of these/],
    ['no target', () => ({ act: 'dismiss', target: '  ' }), /^target is missing. dismiss needs/],
    [
      'no reason',
      () => ({ act: 'ban_account', target: person.id, reason: '' }),
      /^reason is missi/,
    ],
    [
      'a reason of one letter',
      () => ({ act: 'ban_account', target: person.id, reason: 'x' }),
      /^reason is 2 to 500 characters/,
    ],
    [
      'a column that it does not take',
      () => ({ act: 'ban_account', target: person.id, reason: why, amount: 5 }),
      /^Leave amount empty. ban_account needs/,
    ],
    [
      'a note that would go with the account',
      () => ({ act: 'delete_account', target: person.id, reason: why, note: 'x' }),
      /^Leave note empty/,
    ],
    [
      'an end in the past',
      () => ({ act: 'suspend_account', target: person.id, reason: why, until: past }),
      /^until lies in the future/,
    ],
    [
      'an end that is no day',
      () => ({ act: 'suspend_account', target: person.id, reason: why, until: '30/2/2040' }),
      /^until "30\/2\/2040" is no day: type day\/month\/year,/,
    ],
    [
      'somebody who is no administrator',
      () => ({ act: 'ban_account', by: person.identifier, target: person.id, reason: why }),
      /^by is you, an account of admins, as phone, email or id: ".*" is none\.$/,
    ],
    [
      'somebody who is nobody',
      () => ({ act: 'ban_account', by: randomUUID(), target: person.id, reason: why }),
      /^by is you, an account of admins/,
    ],
    [
      'nobody who does it, of several administrators',
      () => ({ act: 'ban_account', by: '', target: person.id, reason: why }),
      /^by is missing: type your phone, email or id/,
    ],
    [
      'nobody',
      () => ({ act: 'ban_account', target: randomUUID(), reason: why }),
      /^No account is found by/,
    ],
    [
      'a listing for an account',
      () => ({ act: 'ban_account', target: listing, reason: why }),
      /^No account is found/,
    ],
    ['no listing', () => ({ act: 'suspend', target: 'KW-1', reason: why }), /^No listing is found/],
    [
      'a version that is no number',
      () => ({ act: 'approve', target: listing, version: 'v3' }),
      /^version "v3" is no whole number/,
    ],
    ['no version', () => ({ act: 'approve', target: listing }), /^version is missing/],
    [
      'an active identity',
      () => ({ act: 'reject_identity', target: person.identityId, reason: why }),
      /^The identity is active: what can be done is suspend\.$/,
    ],
    [
      'one that waits',
      () => ({ act: 'restore_identity', target: company }),
      /^The identity is pending verification: what can be done is approve, reject\.$/,
    ],
    [
      'more than was paid',
      () => ({ act: 'refund', target: paid, to: 'wallet', amount: 10.001, reason: why }),
      /at most 10.000, what is left of INV-/,
    ],
    [
      'a part of a fils',
      () => ({ act: 'refund', target: paid, to: 'wallet', amount: '0.0001', reason: why }),
      /three decimals/,
    ],
    [
      'an amount with two readings',
      () => ({ act: 'refund', target: paid, to: 'wallet', amount: '1,250', reason: why }),
      /^amount "1,250" is 1250 or 1\.250: type one of these\.$/,
    ],
    [
      'an amount in words',
      () => ({ act: 'refund', target: paid, to: 'wallet', amount: 'خمسة', reason: why }),
      /^amount "خمسة" is none in dinars/,
    ],
    [
      'a source that there is none of',
      () => ({ act: 'refund', target: paid, to: 'source', reason: why }),
      /was paid from the wallet: "to" is wallet/,
    ],
    [
      'elsewhere',
      () => ({ act: 'refund', target: paid, to: 'bank', reason: why }),
      /"to" is wallet or source/,
    ],
    [
      'an invoice that nobody paid',
      () => ({ act: 'refund', target: open, to: 'wallet', reason: why }),
      /^Nothing is left to refund of INV-.*, which is open\.$/,
    ],
    [
      'a message that is none',
      () => ({ act: 'hide_message', target: randomUUID(), reason: why }),
      /^No message is found/,
    ],
  ]
  test.each(rows)('%s', async (_name, row, said) => {
    const whole = async () => [
      (await admin.get(`/admin/users/${person.id}`)).body,
      await walletOf(person),
      (await database().query('select count(*)::int from public.admin_acts where account_id = $1', [
        person.id,
      ])).rows,
    ]
    const before = await whole()
    const refused = act(row())
    await expect(refused).rejects.toThrow(said)
    await expect(refused).rejects.toThrow(sentence)
    expect(await whole()).toEqual(before)
  })

  test('a change that breaks a rule of listings by now', async () => {
    const { id } = await publishListing(person)
    await leaveChanges(id)
    await database().query(
      `update public.properties set pending_changes = '{"price": null}' where id = $1`,
      [id],
    )
    const { rows: [{ version }] } = await database().query(
      'select version from public.admin_properties where id = $1',
      [id],
    )
    await expect(act({ act: 'approve_changes', target: id, version })).rejects
      .toThrow('Not done, price required: price price_required.')
  })
})

test('a target is found however it was typed', async () => {
  const person = await signUpByPhone()
  const { rows: [{ phone }] } = await database().query(
    'select phone from public.accounts where id = $1',
    [person.id],
  )
  const local: string = phone.slice(4)
  const { id, refNo } = await publishListing(person)
  const number = refNo.replace('KW-', '')
  const typed: [string, string[], string][] = [
    ['account', [
      local,
      phone,
      phone.slice(1),
      `00${phone.slice(1)}`,
      `${local.slice(0, 4)} ${local.slice(4)}`,
      `+965 ${local.slice(0, 4)}-${local.slice(4)}`,
      arabic(local),
      ` ${arabic(`+965 ${local}`)}\u200f`,
      ...Object.values(typedForms).map((form) => form(`+965 ${local}`)),
      person.id.toUpperCase(),
      person.identityId,
    ], person.id],
    [
      'listing',
      [
        ...Object.values(typedForms).map((form) => form(refNo)),
        refNo.toLowerCase(),
        `kw ${number}`,
        number,
        `KW-${arabic(number)}`,
        id,
      ],
      id,
    ],
  ]
  for (const [kind, forms, target] of typed) {
    for (const form of forms) {
      const { rows } = await database().query(
        'select private.find_target($1, private.typed($2)) as found',
        [kind, form],
      )
      expect(rows, form).toEqual([{ found: [target] }])
    }
  }
  const row = await act({ act: 'suspend', target: ` kw ${arabic(number)} `, reason: why })
  expect(row.target).toBe(id) // the id, never the text as typed
  for (const form of ['9651234', '12345678', `${local}0`, `${local.slice(0, 7)}²`, '%', '']) {
    const { rows } = await database().query(
      `select private.find_target('account', private.typed($1)) as found`,
      [form],
    )
    expect(rows, form).toEqual([{ found: [] }])
  }
  for (
    const form of [local, `+965 ${local}`, arabic(local), `${local.slice(0, 4)} ${local.slice(4)}`]
  ) {
    for (const [view, own] of [['admin_users', person.id], ['admin_properties', id]] as const) {
      const { rows } = await database().query(
        `select id from public.${view} where phone_as_typed ilike '%' || $1 || '%'`,
        [form],
      )
      expect(rows.map((one) => one.id), `${view} ${form}`).toContain(own)
    }
  }
  const { rows: [mailed] } = await database().query(
    'select phone_as_typed from public.admin_users where id = $1',
    [(await signUp()).id],
  )
  expect(mailed.phone_as_typed).toBeNull()
})

test('what the service says of an act is never what was sent', async () => {
  const person = await signUp()
  const given = randomUUID()
  const row = await act({
    id: given,
    act: 'ban_account',
    target: person.id,
    reason: `  ${why}  `,
    note: '',
    state: 'refused',
    result: 'x',
    account_id: given,
    created_at: new Date(0),
    done_at: new Date(0),
  })
  expect(row).toMatchObject({ reason: why, note: null, state: 'done', account_id: person.id })
  expect(row.id).not.toBe(given)
  expect(row.result).not.toBe('x')
  expect(row.created_at.getTime()).toBeGreaterThan(1e12)
  expect(row.done_at.getTime()).toBeGreaterThan(1e12)
  for (
    const sql of [
      `update public.admin_acts set reason = 'other' where id = $1`,
      `delete from public.admin_acts where id = $1`,
    ]
  ) await expect(byHand(sql, [row.id])).rejects.toThrow('What was done stays')
  await expect(byHand(`insert into public.admin_act_kinds values
    ('x', 'account', '{}', '{}', 'x', 'x')`)).rejects.toThrow('by itself')
})

test('a double click and a second administrator are refused, with the time of the first', async () => {
  const person = await personWithMoney()
  const invoice = await buy(person, await newPlan())
  const back = (amount: number) =>
    act({ act: 'refund', target: invoice.number, to: 'wallet', amount, reason: why })
  const both = await Promise.allSettled([back(3), back(3)])
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect((both.find(({ status }) => status === 'rejected') as PromiseRejectedResult).reason.message)
    .toMatch(/^The same was done at \d\d:\d\d:\d\d: it is not done twice within 10 minutes\.$/)
  await back(2) // a refund of a different amount is a different act
  await expect(back(3)).rejects.toThrow('The same was done at')
  expect(await refund(admin, invoice, { amount: 3 })).toMatchObject(refusal(409, 'refund_repeated'))
  expect(await walletOf(person)).toMatchObject({ available: 95 })

  const bans = await Promise.allSettled(
    [1, 2, 3].map(() => act({ act: 'ban_account', target: person.id, reason: why })),
  )
  expect(bans.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await actsAbout(person.id)).toEqual([{ act: 'ban_account', state: 'done' }])
  expect(await auditOf(admin, person.id)).toHaveLength(1)

  await database().query(
    `update public.refunds set created_at = created_at - interval '10 minutes' where invoice_id = $1`,
    [invoice.id],
  )
  await back(3)
  expect((await person.get('/auth/me')).body.error.code).toBe('account_banned')
})

test('of two who decide the same at once, by route and by row, one is told that it is decided', async () => {
  const { id } = await publishListing(await signUp())
  const [byRoute, byRow] = await Promise.allSettled([
    admin.post(`/admin/moderation/${id}/decide`, { decision: 'suspend', reason: why }),
    act({ act: 'suspend', target: id, reason: why }),
  ])
  const first = byRoute.status === 'fulfilled' && byRoute.value.status === 200
  expect(first).toBe(byRow.status === 'rejected')
  if (byRow.status === 'rejected') {
    expect(byRow.reason.message).toBe('The listing is suspended: what can be done is restore.')
  }
  expect((await guest.get(`/properties/${id}`)).status).toBe(404)
  expect(await auditOf(admin, id)).toHaveLength(1)
})

test('the last admin is not locked out by a row', async () => {
  const client = await database().connect()
  try {
    // The lock keeps other tests from adding an admin between the two statements.
    await client.query(`begin; set local edits.by = 'tests';
      lock table public.admins in share row exclusive mode;
      delete from public.admins where account_id <> '${admin.id}'`)
    await expect(client.query(
      `insert into public.admin_acts (act, target, reason) values ('ban_account', $1, $2)`,
      [admin.id, why],
    )).rejects.toMatchObject({ message: expect.stringContaining('Nobody else is an admin') })
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('what waits for a day is an alarm until it waits no longer', async () => {
  const person = await signUp()
  const { id } = await act({ act: 'ban_account', target: person.id, reason: why })
  const alarms = async () =>
    (await database().query(
      `select settled_at is not null as settled from private.alarms
       where kind = 'act_waiting' and subject_id = $1`,
      [id],
    )).rows
  const wait = (state: string, age: string) =>
    database().query(
      'update public.admin_acts set state = $2, created_at = now() - $3::interval where id = $1',
      [id, state, age],
    )
  await wait('waiting', '23 hours')
  await drain('report_waiting_acts')
  expect(await alarms()).toEqual([])
  await wait('waiting', '25 hours')
  await drain('report_waiting_acts')
  expect(await alarms()).toEqual([{ settled: false }])
  await wait('done', '25 hours')
  await drain('report_waiting_acts')
  expect(await alarms()).toEqual([{ settled: true }])
})
