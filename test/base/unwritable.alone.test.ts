// A database that takes no writes, as the platform makes it where the disk is nearly full, and one
// without room: everybody of the stack meets it, so it runs alone.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/environment.ts'
import { superuser } from '../../local/postgres/cluster.ts'
import { databaseAt } from '../../local/postgres/connection.ts'
import { passwordOf, secretsOf } from '../../local/stack/secrets.ts'
import { signUpAdmin } from '../support/admins.ts'
import {
  database,
  guest,
  inboxOf,
  newEmail,
  newPhone,
  type Person,
  type Reply,
  request,
  signIn,
  signUp,
} from '../support/client.ts'
import {
  conversationBetween,
  postMessage,
  sendMessageAs,
  textMessage,
} from '../support/conversations.ts'
import { hasStack } from '../support/facade.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { completeFields, createDraft } from '../support/listings.ts'
import { payWithoutCallback } from '../billing/payment-steps.ts'
import { returnUrl, sandboxCallback, sendCallback, topUp, topUpInvoice } from '../support/money.ts'
import { type Operation, operations, pathOf, queryOf, requestWith } from '../support/openapi.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadAvatar, uploadPictures } from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'

/** SQL as the one who may change the settings of the server. */
async function asSuperuser(...statements: string[]) {
  const url = new URL(variable('DATABASE_URL')!)
  url.username = superuser
  url.password = passwordOf(secretsOf(variable('LOCAL_STACK')!), superuser)
  const client = new pg.Client(databaseAt(url.href))
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const reload = 'select pg_reload_conf()'

/** A refusal for a while: what is to be waited stands in header and body. */
const refusedForNow = ({ status, body, headers }: Reply, what = '') => {
  expect([status, body.error?.code], `${what} ${JSON.stringify(body)}`).toEqual([
    503,
    'service_unavailable',
  ])
  expect(body.error.retryAfter).toBeGreaterThan(0)
  expect(headers.get('retry-after')).toBe(String(body.error.retryAfter))
}

const databaseState = async () => {
  const { status, database } = (await guest.get('/health')).body
  return `${status} ${database}`
}

const until = (state: string) =>
  waitUntil(
    `health says ${state}`,
    async () => await databaseState() === state,
  )

describe.runIf(hasStack)('CRASH-06 a database that is read-only', () => {
  let owner: Person
  let callers: Record<string, Person | undefined>
  let ids: Record<string, string>
  const before = new Map<string, number>()
  const acts: [name: string, act: () => Promise<Reply>][] = []

  const reads = operations.filter(({ method }) => method === 'GET')
  const writes = operations.filter(({ method }) => method !== 'GET')

  function ask(operation: Operation, person: Person | undefined) {
    const area = operation.path.split('/')[1]!
    const query = queryOf(
      operation,
      operation.id === 'list_reviews' ? { identityId: ids.company } : {},
    )
    return (person ?? guest).get(
      pathOf(operation, { ...ids, id: ids[area]! }) + query,
    )
  }

  beforeAll(async () => {
    const people = await Promise.all([
      signUp(),
      signUp(),
      signUpAdmin(),
      signUp(),
      signUp(),
    ])
    const [, other, admin, company, office] = people
    owner = people[0]
    const listing = await insertListing(owner.identityId)
    const companyId = await insertOrganisation(company.id)
    const officeId = await insertOrganisation(office.id, 'office')
    for (
      const [person, identityId] of [[company, companyId], [
        office,
        officeId,
      ]] as const
    ) {
      expect(
        (await person.post('/auth/identity/switch', { identityId })).status,
      ).toBe(200)
    }
    const conversations = await conversationBetween(other, owner)
    await sendMessageAs(other, conversations)
    const invoices = (await topUp(owner)).id
    ids = {
      userId: owner.id,
      identityId: owner.identityId,
      invoiceId: invoices,
      propertyId: listing,
      properties: listing,
      conversations,
      company: companyId,
      office: officeId,
      invoices,
    }
    callers = { guest: undefined, owner, other, admin, company, office }
    await planActs(other)
    for (const operation of reads) {
      for (const [name, person] of Object.entries(callers)) {
        before.set(
          `${operation.id} ${name}`,
          (await ask(operation, person)).status,
        )
      }
    }
    await asSuperuser(
      'alter system set default_transaction_read_only = on',
      reload,
    )
    await until('degraded read_only')
  })

  /** What a person does, each with all that it needs, so that it succeeds as soon as it can. */
  async function planActs(person: Person) {
    const draft = await createDraft(person, completeFields.SALE)
    const { ref } = await payWithoutCallback(person)
    const callback = sandboxCallback(ref)
    const invoice = await topUpInvoice(person)
    const message = textMessage('سلام')
    const [identifier, password] = [newEmail(), randomUUID()]
    const { properties: listing } = ids
    const picture = jpeg({ width: 8, height: 8 })
    const { refreshToken } = await signIn(person.identifier, person.password)
    acts.push(
      [
        'register',
        () =>
          guest.post('/auth/register', {
            identifier,
            password,
            fullName: 'سالم',
          }),
      ],
      [
        'register by phone',
        () =>
          guest.post('/auth/register', {
            identifier: newPhone(),
            password,
            fullName: 'سالم',
          }),
      ],
      [
        'sign in',
        () =>
          guest.post('/auth/login', {
            identifier: person.identifier,
            password: person.password,
          }),
      ],
      ['refresh', () => guest.post('/auth/refresh', { refreshToken })],
      [
        'change the profile',
        () => person.patch('/auth/me', { fullName: 'نورة الشمري' }),
      ],
      ['publish', () => person.post(`/properties/${draft.id}/publish`)],
      ['save', () => person.post(`/favorites/${listing}`)],
      [
        'contact',
        () => person.post(`/properties/${listing}/contact`, { kind: 'call' }),
      ],
      ['write', () => postMessage(person, ids.conversations!, message)],
      ['upload an avatar', () => uploadAvatar(person, picture)],
      ['upload pictures', () => uploadPictures(person, [picture])],
      ['top up', () => person.post('/wallet/topup', { amount: 10 })],
      [
        'charge',
        () => person.post('/payments/charge', { invoiceId: invoice.id, returnUrl }),
      ],
      ['the webhook of a payment', () => sendCallback(callback)],
      ['block', () => person.post(`/blocks/${ids.company}`)],
      ['sign out', () => person.post('/auth/logout', {})],
    )
  }

  afterAll(async () => {
    await asSuperuser(
      'alter system reset default_transaction_read_only',
      reload,
    )
  })

  test.each(reads)('GET $path answers as before', async (operation) => {
    const statuses = Object.entries(callers).map(async ([name, person]) => {
      const { status } = await ask(operation, person)
      expect(status, name).toBe(before.get(`${operation.id} ${name}`))
      return status
    })
    expect(await Promise.all(statuses)).toContain(200)
  })

  const harmless = ['forgot_password', 'search']

  test.each(writes)(
    '$method $path does nothing, and says when to try again',
    async (operation) => {
      const { path, body } = requestWith(operation)
      const headers = { authorization: `Bearer ${owner.accessToken}` }
      const reply = await request(operation.method, path, body, { headers })
      if (reply.status === 503) refusedForNow(reply)
      else if (!harmless.includes(operation.id)) {
        expect(reply.status).toBeOneOf([
          400,
          401,
          402,
          403,
          404,
          409,
          415,
          422,
        ])
      }
    },
  )

  test('a forgotten password is answered like that of nobody, and nothing is sent', async () => {
    const known = await guest.post('/auth/password/forgot', {
      identifier: owner.identifier,
    })
    const unknown = await guest.post('/auth/password/forgot', {
      identifier: newEmail(),
    })
    for (const { status, body } of [known, unknown]) {
      expect([status, body]).toEqual([202, {
        resendAfter: 45,
        resetId: expect.any(String),
      }])
    }
    expect(await inboxOf(owner.identifier)).toEqual([])
  })

  test('no act is half done: each is 503, and done whole once the database takes it', async () => {
    for (const [name, act] of acts) refusedForNow(await act(), name)
    const jobs = await runJobs()
    expect(jobs.expire_listings).toHaveProperty('done')
    await asSuperuser(
      'alter system reset default_transaction_read_only',
      reload,
    )
    await until('ok ok')
    for (const [name, act] of acts) {
      expect((await act()).status, name).toBeOneOf([200, 201, 202, 204])
    }
    expect(Object.values(await runJobs()).filter(({ error }) => error)).toEqual(
      [],
    )
  })
})

describe.runIf(hasStack)('CRASH-06 a database without room', () => {
  /** While it works, there is no room for a row more in these tables. */
  async function full(tables: string[], work: () => Promise<void>) {
    await database().query(
      `create function private.refuse_row() returns trigger language plpgsql as $$
      begin
        raise disk_full using message = 'could not extend file: No space left on device';
      end $$`,
    )
    const triggers = tables.map((table) =>
      `create trigger refuse_row before insert on ${table}
       for each row execute function private.refuse_row()`
    )
    try {
      for (const trigger of triggers) await database().query(trigger)
      await work()
    } finally {
      await database().query('drop function private.refuse_row cascade')
    }
  }

  test('reads go on without their view, writes are 503, and health says it', async () => {
    const [owner, other] = await Promise.all([signUp(), signUp()])
    const listing = await insertListing(owner.identityId)
    const conversation = await conversationBetween(other, owner)
    const message = textMessage('سلام')
    const send = () => postMessage(other, conversation, message)
    await full(
      ['private.property_views', 'public.messages', 'private.codes'],
      async () => {
        expect((await other.get(`/properties/${listing}`)).body.id).toBe(
          listing,
        )
        const { identifier } = owner
        expect(
          (await guest.post('/auth/password/forgot', { identifier })).status,
        ).toBe(202)
        refusedForNow(await send())
        await until('degraded full')
      },
    )
    expect((await send()).status).toBe(201)
    const { body } = await owner.get(`/conversations/${conversation}/messages`)
    expect(body.items).toHaveLength(1)
    await other.get(`/properties/${listing}`)
    const { rows } = await database().query(
      'select identity_id from private.property_views where property_id = $1',
      [listing],
    )
    expect(rows).toEqual([{ identity_id: other.identityId }])
  })
})
