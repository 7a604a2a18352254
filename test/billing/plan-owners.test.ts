// Whose plan is renewed: the owner's account and identity have to be in order (contract, section 7).
import { beforeAll, describe, expect, test } from 'vitest'
import { identityOf, statusOf } from '../admin/requests.ts'
import { signUpAdmin } from '../support/admins.ts'
import { database, type Person, signIn, signUp } from '../support/client.ts'
import { insertOrganisation, makePending } from '../support/fixtures.ts'
import { actAs, setStatus } from '../support/identities.ts'
import { drain } from '../support/jobs.ts'
import { giveMoney } from '../support/money.ts'
import { buy, newPlan } from './purchases.ts'

let admin: Person

beforeAll(async () => {
  admin = await signUpAdmin()
})

type Owner = { person: Person; office: string }

/** An office that has paid 5 of 20 dinars for a plan. */
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

const ways: Record<string, { out(of: Owner): Promise<unknown>; back(of: Owner): Promise<unknown> }> =
  {
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

describe.each(Object.entries(ways))('a plan %s', (_name, { out, back }) => {
  test.each([['wallet', 10], ['invoice', 15]])(
    'that is paid by %s is neither renewed, invoiced nor reminded of until that is over',
    async (payWith, balance) => {
      const owner = await ownerWithPlan()
      const { office } = owner
      await database().query(
        'update public.subscriptions set pay_with = $2 where identity_id = $1',
        [office, payWith],
      )
      await endsIn(office, '20 hours')
      await out(owner)
      await runBilling()
      expect(await found(office)).toEqual({ balance: 15, invoices: 1, reminders: 0 })
      await back(owner)
      await runBilling()
      expect(await found(office)).toEqual({ balance, invoices: 2, reminders: 1 })
    },
  )
})

test('a plan of a banned account is not renewed', async () => {
  const { person, office } = await ownerWithPlan()
  await endsIn(office, '20 hours')
  done(await statusOf(admin, person.id, { status: 'banned' }))
  await runBilling()
  expect(await found(office)).toEqual({ balance: 15, invoices: 1, reminders: 0 })
})
