// A plan is renewed only while its owner's account and identity are in good standing (contract, section 7).
import { beforeAll, describe, expect, test } from 'vitest'
import { identityOf, statusOf } from '../admin/requests.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { insertListing, insertOrganisation, makePending } from '../support/fixtures.ts'
import { actAs, setStatus } from '../support/identities.ts'
import { drain } from '../support/jobs.ts'
import { giveMoney } from '../support/money.ts'
import { buy, newPlan } from './purchases.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

type Owner = { person: Person; office: string }

/** Creates an office with 20 dinars that buys a plan for 5 of them. */
async function ownerWithPlan(): Promise<Owner> {
  const person = await signUp()
  const office = await insertOrganisation(person.id, 'office')
  await giveMoney(office, 20)
  await actAs(person, office)
  await buy(person, await newPlan({ price: 5, audience: 'office' }))
  return { person, office }
}

const endsIn = (office: string, interval: string) =>
  database().query(
    `update public.subscriptions
     set starts_at = now() - interval '40 days', ends_at = now() + $2::interval
     where identity_id = $1 and status = 'active'`,
    [office, interval],
  )

async function found(office: string) {
  const { rows: [row] } = await database().query(
    `select
       (select balance::float from public.wallets
        where identity_id = $1 and part = 'available') as balance,
       (select count(*)::integer from public.invoices where identity_id = $1) as invoices,
       (select count(*)::integer from public.notifications
        where identity_id = $1 and kind = 'plan_expiring') as reminders`,
    [office],
  )
  return row
}

async function runBilling() {
  for (const job of ['remind_of_plans', 'renew_plans']) await drain(job)
}

const expired = async ({ office }: Owner, on: string, status?: string) => {
  await database().query(
    'update public.organisations set licence_expires_on = $2 where identity_id = $1',
    [office, on],
  )
  if (status) await setStatus(office, status)
  else await drain('expire_licences')
}

const done = ({ status }: { status: number }) => expect(status).toBeLessThan(300)

const ways: Record<
  string,
  { out(of: Owner): Promise<unknown>; back(of: Owner): Promise<unknown> }
> = {
  'of a suspended account': {
    out: async ({ person }) => done(await statusOf(admin, person.id, { status: 'suspended' })),
    back: async ({ person }) => done(await statusOf(admin, person.id, { status: 'active' })),
  },
  'of a suspended identity': {
    out: async ({ office }) => done(await identityOf(admin, office, 'suspended')),
    back: async ({ office }) => done(await identityOf(admin, office, 'active')),
  },
  'of an office whose licence is over': {
    out: (owner) => expired(owner, '2026-01-01'),
    back: (owner) => expired(owner, '2040-01-01', 'active'),
  },
  'of an office that waits to be verified': {
    out: ({ office }) => makePending(office),
    back: ({ office }) => setStatus(office, 'active'),
  },
  'of an account whose deletion is requested': {
    out: async ({ person }) =>
      done(
        await person.post('/auth/me/delete', { password: person.password, money: 'refund' }),
      ),
    back: ({ person }) => signIn(person.identifier, person.password),
  },
}

describe.each(Object.entries(ways))('WAL-09 a plan %s', (_name, { out, back }) => {
  test.each([['wallet', 10], ['invoice', 15]])(
    'that is paid by %s is neither renewed, invoiced nor reminded of until that is over',
    async (payWith, balance) => {
      const owner = await ownerWithPlan()
      const { office } = owner
      await database().query(
        'update public.subscriptions set pay_with = $2 where identity_id = $1',
        [office, payWith],
      )
      // The owner is blocked while the end of the plan is still far away, because the stack's
      // own job may run at any time.
      await out(owner)
      await endsIn(office, '20 hours')
      await runBilling()
      expect(await found(office)).toEqual({ balance: 15, invoices: 1, reminders: 0 })
      await back(owner)
      await runBilling()
      expect(await found(office)).toEqual({ balance, invoices: 2, reminders: 1 })
    },
  )
})

test('WAL-09 a plan of a banned account is not renewed', async () => {
  const { person, office } = await ownerWithPlan()
  done(await statusOf(admin, person.id, { status: 'banned' }))
  await endsIn(office, '20 hours')
  await runBilling()
  expect(await found(office)).toEqual({ balance: 15, invoices: 1, reminders: 0 })
})

describe('WAL-09 time', () => {
  /** Creates an office whose plan has 10 days left and whose listing has 5. */
  async function ownerWithTime() {
    const owner = await ownerWithPlan()
    await endsIn(owner.office, '10 days')
    const listing = await insertListing(owner.office, {
      expires_at: new Date(Date.now() + 5 * 86_400_000),
    })
    return { ...owner, listing }
  }

  /** Moves all times of the office some days into the past and runs the jobs. */
  async function pass({ office }: Owner, days: number) {
    await database().query(
      `with stop as (
         update public.identities set stopped_at = stopped_at - $2 * interval '1 day' where id = $1
       ), plan as (
         update public.subscriptions
         set starts_at = starts_at - $2 * interval '1 day', ends_at = ends_at - $2 * interval '1 day'
         where identity_id = $1
       )
       update public.properties
       set expires_at = expires_at - $2 * interval '1 day', paused_at = paused_at - $2 * interval '1 day'
       where owner_identity_id = $1`,
      [office, days],
    )
    for (const job of ['downgrade_plans', 'expire_listings', 'downgrade_plans']) await drain(job)
    await runBilling()
  }

  /** Returns the status of the plan and of the listing, each with the days left. */
  async function left({ office }: Owner) {
    const days = (column: string) =>
      `round((extract(epoch from ${column} - now()) / 86400)::numeric, 1)::float as days`
    const { rows: [plan] } = await database().query(
      `select status, ${days('ends_at')} from public.subscriptions where identity_id = $1`,
      [office],
    )
    const { rows: [listing] } = await database().query(
      `select status, ${days('expires_at')} from public.properties where owner_identity_id = $1`,
      [office],
    )
    return { plan, listing }
  }

  const untouched = {
    plan: { status: 'active', days: 10 },
    listing: { status: 'active', days: 5 },
  }

  const suspend = (person: Person, until?: string) =>
    statusOf(admin, person.id, { status: 'suspended', until })

  test('stands still while an account is suspended, and plan and listing last longer', async () => {
    const owner = await ownerWithTime()
    done(await suspend(owner.person))
    await pass(owner, 30)
    expect(await left(owner)).toMatchObject({
      plan: { status: 'active', days: -20 },
      listing: { status: 'active', days: -25 },
    })
    expect(await found(owner.office)).toMatchObject({ balance: 15, invoices: 1 })
    done(await statusOf(admin, owner.person.id, { status: 'active' }))
    expect(await left(owner)).toEqual(untouched)
  })

  test('stands still until a suspension has run out', async () => {
    const owner = await ownerWithTime()
    done(await suspend(owner.person, new Date(Date.now() + 3_600_000).toISOString()))
    await pass(owner, 30)
    await database().query(
      `update public.accounts set suspended_until = now() - interval '1 second' where id = $1`,
      [owner.person.id],
    )
    await drain('end_suspensions')
    expect(await left(owner)).toEqual(untouched)
  })

  test('stands still once where account and identity are suspended by turns', async () => {
    const owner = await ownerWithTime()
    done(await identityOf(admin, owner.office, 'suspended'))
    await pass(owner, 10)
    done(await suspend(owner.person))
    await pass(owner, 10)
    done(await identityOf(admin, owner.office, 'active'))
    await pass(owner, 10)
    done(await statusOf(admin, owner.person.id, { status: 'active' }))
    expect(await left(owner)).toEqual(untouched)
  })

  test('of a paused listing is given back once, by the end of the pause', async () => {
    const owner = await ownerWithTime()
    done(await owner.person.post(`/properties/${owner.listing}/pause`))
    await pass(owner, 3)
    done(await suspend(owner.person))
    await pass(owner, 30)
    done(await statusOf(admin, owner.person.id, { status: 'active' }))
    const person = await signIn(owner.person.identifier, owner.person.password)
    await actAs(person, owner.office)
    done(await person.post(`/properties/${owner.listing}/resume`))
    expect((await left(owner)).listing).toEqual(untouched.listing)
  })

  test.each(['of an office whose licence is over', 'of an account whose deletion is requested'])(
    'runs on for a plan %s',
    async (way) => {
      const owner = await ownerWithTime()
      await ways[way]!.out(owner)
      await pass(owner, 30)
      expect(await left(owner)).toMatchObject({
        plan: { status: 'expired' },
        listing: { status: 'expired' },
      })
    },
  )

  test('ends with a ban, the plan only', async () => {
    const owner = await ownerWithTime()
    done(await statusOf(admin, owner.person.id, { status: 'banned' }))
    await pass(owner, 1)
    done(await statusOf(admin, owner.person.id, { status: 'active' }))
    expect(await left(owner)).toMatchObject({
      plan: { status: 'expired' },
      listing: untouched.listing,
    })
  })

  test('of a plan ends 180 days after the suspension began', async () => {
    const owner = await ownerWithTime()
    done(await identityOf(admin, owner.office, 'suspended'))
    await pass(owner, 179)
    expect((await left(owner)).plan.status).toBe('active')
    await pass(owner, 1)
    expect((await left(owner)).plan.status).toBe('expired')
    done(await identityOf(admin, owner.office, 'active'))
    expect((await left(owner)).listing).toEqual(untouched.listing)
  })
})
