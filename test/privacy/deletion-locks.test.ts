import { beforeAll, describe, expect, test } from 'vitest'
import { act, edit, leaveChanges, why } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import {
  database,
  guest,
  newEmail,
  newPhone,
  type Person,
  signIn,
  signUp,
} from '../support/client.ts'
import { insertWaitingCompany, makePending } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { publishListing } from '../support/listings.ts'
import { giveMoney } from '../support/money.ts'
import { waitUntil } from '../support/wait.ts'

let admin: Person
beforeAll(async () => {
  admin = await signUpAdmin()
})

type Leaver = { person: Person; listing: string; company: string; deleteAt: string }

async function leaver(): Promise<Leaver> {
  const person = await signUp()
  const { id: listing } = await publishListing(person)
  const company = await insertWaitingCompany(person.id)
  await giveMoney(person.identityId, 3.25)
  const { password } = person
  const { status, body } = await person.post('/auth/me/delete', { password, money: 'refund' })
  expect([status, body]).toEqual([202, { deleteAt: expect.any(String) }])
  return { person, listing, company, deleteAt: body.deleteAt }
}

const factsOf = async ({ person }: Leaver) =>
  (await database().query(
    `select status, delete_at, money_at_deletion as money from public.accounts where id = $1`,
    [person.id],
  )).rows[0]

async function expectAsked(who: Leaver) {
  const { delete_at, money } = await factsOf(who)
  expect([delete_at, money]).toEqual([new Date(who.deleteAt), 'refund'])
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()
const lock = ({ person }: Leaver, status: string, until?: string) =>
  admin.patch(`/admin/users/${person.id}/status`, { status, until, reason: why })
const decided = ({ listing }: Leaver, decision: string) =>
  admin.post(`/admin/moderation/${listing}/decide`, { decision, reason: why })
const identity = (id: string, status: string) =>
  admin.patch(`/admin/identities/${id}/status`, { status, reason: why })
const waits = (id: string) =>
  database().query(
    `update public.properties set status = 'pending_review', status_reason = null where id = $1`,
    [id],
  )

type Step = [name: string, status: string, work: (who: Leaver) => Promise<unknown>]

/** Expects that no step cancels the requested deletion. All steps use one account, in order. */
const eachKeeps = (steps: Step[]) =>
  describe('leaves it as it was asked for', { shuffle: false }, () => {
    let who: Leaver
    beforeAll(async () => {
      who = await leaver()
    })
    test.each(steps)('%s: it is %s, and to be deleted as before', async (_name, status, work) => {
      const answer = await work(who) as { status?: number } | undefined
      if (typeof answer?.status === 'number') expect(answer.status).toBeLessThan(300)
      expect((await factsOf(who)).status).toBe(status)
      await expectAsked(who)
    })
  })

describe('ADM-10 an administrator', () => {
  eachKeeps([
    ['suspends it', 'suspended', (who) => lock(who, 'suspended')],
    ['suspends it until later', 'suspended', (who) => lock(who, 'suspended', inAnHour())],
    ['bans it', 'banned', (who) => lock(who, 'banned')],
    ['lifts the ban', 'active', (who) => lock(who, 'active')],
    [
      'gives it another phone',
      'active',
      ({ person }) =>
        admin.patch(`/admin/users/${person.id}/identifier`, {
          phone: newPhone(),
          removeOther: true,
          reason: why,
        }),
    ],
    ['suspends its identity', 'active', ({ person }) => identity(person.identityId, 'suspended')],
    ['brings that back', 'active', ({ person }) => identity(person.identityId, 'active')],
    ['verifies its company', 'active', ({ company }) => identity(company, 'active')],
    ['suspends its listing', 'active', (who) => decided(who, 'suspend')],
    ['restores that', 'active', (who) => decided(who, 'restore')],
  ])
})

type Row = Record<string, unknown>

// All acts on an account, an identity or a listing. A new act must be added here.
const acts: Record<string, (who: Leaver) => Row | Promise<Row>> = {
  suspend_account: ({ person }) => ({ target: person.id, until: inAnHour(), reason: why }),
  ban_account: ({ person }) => ({ target: person.id, reason: why }),
  activate_account: ({ person }) => ({ target: person.id, reason: why }),
  set_identifier: ({ person }) => ({ target: person.id, value: newEmail(), reason: why }),
  suspend_identity: ({ person }) => ({ target: person.identityId, reason: why }),
  restore_identity: ({ person }) => ({ target: person.identityId }),
  verify_identity: ({ company }) => ({ target: company }),
  reject_identity: async ({ company }) => {
    await makePending(company)
    return { target: company, reason: why }
  },
  suspend: ({ listing }) => ({ target: listing, reason: why }),
  restore: ({ listing }) => ({ target: listing }),
  reject_changes: async ({ listing }) => {
    await leaveChanges(listing)
    return { target: listing, reason: why }
  },
  approve_changes: async ({ listing }) => {
    await leaveChanges(listing)
    return { target: listing, version: await versionOf(listing) }
  },
  reject: async ({ listing }) => {
    await waits(listing)
    return { target: listing, reason: why }
  },
  approve: async ({ listing }) => {
    await waits(listing)
    return { target: listing, version: await versionOf(listing) }
  },
}

const versionOf = async (id: string) =>
  (await database().query(
    'select private.review_version(properties) as version from public.properties where id = $1',
    [id],
  )).rows[0].version

describe('ADM-10 a row of admin_acts', () => {
  const after: Record<string, string> = { suspend_account: 'suspended', ban_account: 'banned' }
  eachKeeps(
    Object.entries(acts).map(([name, row]) => [
      name,
      after[name] ?? 'active',
      async (who) => void await act({ act: name, ...await row(who) }),
    ]),
  )

  test('all of them are above, but for those that delete it, or need a ban or passkeys', async () => {
    const { rows } = await database().query(
      `select act from public.admin_act_kinds where target in ('account', 'identity', 'listing')`,
    )
    expect(rows.map(({ act }) => act).toSorted())
      .toEqual(
        [...Object.keys(acts), 'delete_account', 'open_payout', 'remove_passkeys'].toSorted(),
      )
  })
})

describe('ADM-10 an edit by hand', () => {
  const account = (columns: Record<string, unknown>) => ({ person }: Leaver) =>
    edit('accounts', person.id, columns)
  eachKeeps([
    ['status suspended', 'suspended', account({ status: 'suspended', status_reason: why })],
    ['status_reason', 'suspended', account({ status_reason: `${why}، مرة أخرى` })],
    ['suspended_until', 'suspended', account({ suspended_until: inAnHour() })],
    ['status banned', 'banned', account({ status: 'banned' })],
    ['status active', 'active', account({ status: 'active' })],
    ['language', 'active', account({ language: 'en' })],
    [
      'full_name',
      'active',
      ({ person }) =>
        edit('individual_profiles', person.id, { full_name: 'فهد المطيري' }, 'account_id'),
    ],
    [
      'the status of its identity',
      'active',
      ({ person }) => edit('identities', person.identityId, { status: 'suspended' }),
    ],
    [
      'the status of its listing',
      'active',
      ({ listing }) => edit('properties', listing, { status: 'suspended', status_reason: why }),
    ],
  ])

  test('delete_at alone asks for it or takes it back, with what was said of the money', async () => {
    const who = await leaver()
    await lock(who, 'suspended')
    await edit('accounts', who.person.id, { delete_at: null })
    expect(await factsOf(who)).toEqual({ status: 'suspended', delete_at: null, money: null })
    await edit('accounts', who.person.id, { delete_at: inAnHour() })
    expect(await factsOf(who)).toMatchObject({ status: 'suspended', money: null })
    await expect(edit('accounts', who.person.id, { delete_at: 'infinity' })).rejects.toThrow()
  })
})

describe('ADM-10 jobs', () => {
  test.each(['active', 'suspended', 'banned'])(
    'leave it while it is %s, and delete it at its date',
    async (status) => {
      const who = await leaver()
      await database().query(
        `update public.accounts set status = $2 where id = $1`,
        [who.person.id, status],
      )
      await runJobs()
      expect((await factsOf(who)).status).toBe(status)
      await expectAsked(who)
      await database().query(
        `update public.accounts set delete_at = now() - interval '1 second' where id = $1`,
        [who.person.id],
      )
      await waitUntil('the deletion', async () => {
        await runJobs()
        return (await factsOf(who)).status === 'deleted'
      })
      const { rows } = await database().query(
        'select amount, state from public.wallet_payouts where account_id = $1',
        [who.person.id],
      )
      expect(rows).toEqual([{ amount: '3.25', state: 'open' }])
    },
  )

  test('a suspension that ends leaves the rest of the days, in which a sign-in takes it back', async () => {
    const who = await leaver()
    const { person, listing } = who
    const seen = async () => (await guest.get(`/properties/${listing}`)).status
    await lock(who, 'suspended', inAnHour())
    await database().query(
      `update public.accounts set suspended_until = now() - interval '1 second' where id = $1`,
      [person.id],
    )
    expect(await seen()).toBe(404)
    await waitUntil('the end of the suspension', async () => {
      await runJobs()
      return (await factsOf(who)).status === 'active'
    })
    await expectAsked(who)
    expect(await seen()).toBe(404)
    expect((await guest.get(`/advertisers/${person.identityId}`)).status).toBe(404)
    await signIn(person.identifier, person.password)
    expect(await factsOf(who)).toEqual({ status: 'active', delete_at: null, money: null })
    expect(await seen()).toBe(200)
  })
})

test.each(['suspended', 'banned'])(
  'ADM-10 the 403 and every list of administrators say both: %s, and when it is deleted',
  async (status) => {
    const who = await leaver()
    const { person, deleteAt } = who
    await lock(who, status)
    const { identifier, password } = person
    const refused = [
      await person.get('/auth/me'),
      await guest.post('/auth/login', { identifier, password }),
    ]
    for (const { status: code, body } of refused) {
      expect([code, body.error.code]).toEqual([403, `account_${status}`])
      expect(Date.parse(body.error.deleteAt)).toBe(Date.parse(deleteAt))
    }
    const both = { status, deleteAt }
    expect((await admin.get(`/admin/users/${person.id}`)).body.user).toMatchObject(both)
    const list = `/admin/users?q=${person.id}&status=${status}`
    expect((await admin.get(`${list}&toBeDeleted=true`)).body.items)
      .toMatchObject([both])
    expect((await admin.get(`${list}&toBeDeleted=false`)).body.items).toEqual([])
    const { rows } = await database().query(
      'select status, delete_at from public.admin_users where id = $1',
      [person.id],
    )
    expect(rows).toEqual([{ status, delete_at: new Date(deleteAt) }])
    await lock(who, 'active')
    await expectAsked(who)
    expect((await guest.get(`/properties/${who.listing}`)).status).toBe(404)
    await signIn(identifier, password)
    expect((await guest.get(`/properties/${who.listing}`)).status).toBe(200)
  },
)
