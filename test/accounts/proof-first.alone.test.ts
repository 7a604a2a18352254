// HARM-01: accounts registered from an address with many unverified accounts have to verify an email or phone
// before they can publish or write to others.
import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import {
  asCaller,
  database,
  guest,
  newEmail,
  type Person,
  personOf,
  signUp,
} from '../support/client.ts'
import { type Facade, startFacade, testLocally } from '../support/facade.ts'
import { givePhone, insertListing, insertOrganisation, proveEmail } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { completeFields, createDraft } from '../support/listings.ts'
import { statusAndCode } from '../support/problems.ts'
import { withRates } from '../support/own-rates.ts'
import { callDataApi } from '../support/data-api.ts'
import { waitUntil } from '../support/wait.ts'
import { change } from './contact-requests.ts'

const limit = 20
withRates({ proof_first: limit })

const unproven = [403, 'account_unproven']
const newAddress = () => `203.0.${randomInt(256)}.${randomInt(256)}`

const codesAreSent = async () => {
  const { rows } = await database().query(
    `select value = 'true' as sent from private.settings where name = 'codes_are_sent'`,
  )
  return rows[0].sent as boolean
}

const planted: string[] = []
afterAll(() => database().query('delete from public.accounts where id = any ($1)', [planted]))

/** Inserts accounts as if they had just been registered from an address, and returns their ids. */
async function crowd(subject: string, count = limit): Promise<string[]> {
  const { rows } = await database().query(
    `with made as (
       insert into public.accounts (id, email)
       select gen_random_uuid(), gen_random_uuid() || '@example.com'
       from generate_series(1, ${count})
       returning id
     )
     insert into private.email_registrations (account_id, subject) select id, $1 from made
     returning account_id`,
    [subject],
  )
  const ids = rows.map(({ account_id }) => account_id)
  planted.push(...ids)
  return ids
}

const isMarked = async (accountId: string) => {
  const { rows } = await database().query(
    'select proof_first from public.accounts where id = $1',
    [
      accountId,
    ],
  )
  return rows[0].proof_first as boolean
}

describe('HARM-01 at a crowded address', () => {
  let facade: Facade
  beforeAll(async () => {
    facade = await startFacade()
    await runJobs()
    await waitUntil('the database knows that codes are sent', codesAreSent)
  })
  afterAll(() => facade?.stop())

  async function registerAt(address: string): Promise<Person> {
    const given = { identifier: newEmail(), password: randomUUID() }
    const reply = await facade.post('/auth/register', given, {
      'x-forwarded-for': address,
    })
    expect(reply.status).toBe(201)
    const { body } = await guest.post('/auth/login', given)
    return personOf(body, given.identifier, given.password)
  }

  async function someoneMarked(): Promise<Person> {
    const address = newAddress()
    await crowd(address)
    const person = await registerAt(address)
    expect(await isMarked(person.id)).toBe(true)
    return person
  }

  testLocally(
    'the twenty-first is marked, whoever came before is not',
    async () => {
      const address = newAddress()
      const [first] = await crowd(address, limit - 1)
      const last = await registerAt(address)
      const marked = await registerAt(address)
      expect([await isMarked(last.id), await isMarked(marked.id)]).toEqual([
        false,
        true,
      ])
      expect(await isMarked((await registerAt(newAddress())).id)).toBe(false)
      // An account that verifies its email no longer counts, so the next one is not marked.
      await proveEmail({ id: first! } as Person)
      await proveEmail(marked)
      expect(await isMarked((await registerAt(address)).id)).toBe(false)
      expect(await isMarked((await registerAt(address)).id)).toBe(true)
    },
  )

  testLocally(
    'those of yesterday do not count; of IPv6 a /64, and a /48 with ten times as many',
    async () => {
      const address = newAddress()
      await crowd(address)
      await database().query(
        `update private.email_registrations set created_at = created_at - interval '1 day'
       where subject = $1`,
        [address],
      )
      expect(await isMarked((await registerAt(address)).id)).toBe(false)

      const block = `2001:db8:${randomInt(0x1000, 0xffff).toString(16)}`
      await crowd(`${block}:1::/64`)
      expect(await isMarked((await registerAt(`${block}:1::7`)).id)).toBe(true)
      expect(await isMarked((await registerAt(`${block}:2::7`)).id)).toBe(
        false,
      )
      await crowd(`${block}::/48`, 10 * limit)
      expect(await isMarked((await registerAt(`${block}:3::7`)).id)).toBe(true)
    },
  )

  testLocally('of thirty at once exactly twenty are unmarked', async () => {
    const address = newAddress()
    const replies = await Promise.all(
      Array.from(
        { length: 30 },
        () =>
          facade.post('/auth/register', {
            identifier: newEmail(),
            password: randomUUID(),
          }, {
            'x-forwarded-for': address,
          }),
      ),
    )
    const ids = replies.map(({ body }) => body.accountId)
    const { rows } = await database().query(
      'select count(*)::int from public.accounts where id = any ($1) and not proof_first',
      [ids],
    )
    expect(rows[0].count).toBe(limit)
  })

  testLocally(
    'it neither publishes, writes to strangers, asks for contact nor reviews, at any door',
    async () => {
      const person = await someoneMarked()
      const owner = await signUp()
      await givePhone(owner)
      const listing = await insertListing(owner.identityId, {
        allow_call: true,
      })
      const draft = await createDraft(person, completeFields.SALE)
      const refused = [
        await person.post('/properties', {
          ...completeFields.SALE,
          publish: true,
        }),
        await person.post(`/properties/${draft.id}/publish`),
        await person.post('/conversations', { identityId: owner.identityId }),
        await person.post('/conversations', {
          propertyId: listing,
          message: 'مرحبا',
        }),
        await person.post(`/properties/${listing}/contact`, { kind: 'call' }),
        await person.post(`/properties/${listing}/contact`, { kind: 'chat' }),
        await person.post('/reviews', {
          identityId: await insertOrganisation(owner.id),
          rating: 1,
        }),
      ]
      expect(refused.map(statusAndCode)).toEqual(Array(7).fill(unproven))
      for (
        const [name, args] of [
          ['create_conversation', { identity_id: owner.identityId }],
          ['act_on_property', { property_id: draft.id, action: 'publish' }],
          ['create_property', { fields: completeFields.SALE, publish: true }],
        ] as const
      ) {
        const { status, text } = await callDataApi(person, name, args)
        expect([status, JSON.parse(text).message]).toEqual(unproven)
      }
      // Actions that involve nobody else still work, and so do conversations that others started.
      expect((await person.post(`/favorites/${listing}`)).status).toBe(200)
      expect(
        (await person.patch(`/properties/${draft.id}`, { price: 1000 })).status,
      ).toBe(200)
      const { body: theirs } = await owner.post('/conversations', {
        identityId: person.identityId,
        message: 'مرحبا',
      })
      const answer = {
        clientMessageId: randomUUID(),
        type: 'text',
        body: 'أهلاً',
      }
      expect(
        (await person.post(`/conversations/${theirs.id}/messages`, answer))
          .status,
      ).toBe(201)
      expect(
        (await person.post('/conversations', { identityId: owner.identityId }))
          .status,
      ).toBe(200)
    },
  )

  testLocally(
    'a code opens it; so does the end of the rule, and a time in which no code is sent',
    async () => {
      const person = await someoneMarked()
      const { identityId } = await signUp()
      const refusedBy = (
        client: { query: (sql: string, values: unknown[]) => Promise<unknown> },
      ) =>
        client.query('select api.create_conversation(identity_id => $1)', [
          identityId,
        ])
      await expect(asCaller(person, refusedBy)).rejects.toMatchObject({
        code: 'PT403',
      })
      for (
        const off of [
          `select private.set_codes_are_sent(false)`,
          `set edits.by = 'tests'; update private.rates set max = 1000000 where rule = 'proof_first'`,
        ]
      ) {
        await asCaller(person, async (client) => {
          await client.query(
            `reset role; ${off}; set local role authenticated`,
          )
          await refusedBy(client)
          await client.query('reset role; reset edits.by')
        })
      }
      expect(statusAndCode(await person.post('/conversations', { identityId })))
        .toEqual(unproven)
      await change(person, 'email', person.identifier)
      expect((await person.post('/conversations', { identityId })).status).toBe(
        201,
      )
    },
  )

  testLocally('nobody is marked while no code is sent', async () => {
    const address = newAddress()
    await crowd(address)
    const client = await database().connect()
    try {
      await client.query('begin')
      await client.query('select private.set_codes_are_sent(false)')
      const { rows } = await client.query(
        `insert into public.accounts (id, email)
         values (gen_random_uuid(), gen_random_uuid() || '@example.com') returning id`,
      )
      await client.query('select private.note_registration($1, $2)', [
        rows[0].id,
        address,
      ])
      const marked = 'select proof_first from public.accounts where id = $1'
      expect((await client.query(marked, [rows[0].id])).rows[0].proof_first)
        .toBe(false)
    } finally {
      await client.query('rollback')
      client.release()
    }
  })
})
