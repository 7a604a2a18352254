// The database is read-only, as the platform makes it when the disk is nearly full. This affects the whole
// stack, so the file runs alone.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { superuser } from '../../local/postgres/cluster.ts'
import { databaseAt } from '../../local/schema/connection.ts'
import { passwordOf, secretsOf } from '../../local/config/secrets.ts'
import { payWithoutCallback } from '../billing/payment-steps.ts'
import { signUpAdmin } from '../support/admins.ts'
import {
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
import { hasStack, startFacade } from '../support/facade.ts'
import { insertListing, insertOrganisation, insertWaitingCompany } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'
import { completeFields, createDraft } from '../support/listings.ts'
import { returnUrl, sandboxCallback, sendCallback, topUp, topUpInvoice } from '../support/money.ts'
import { type Operation, operations, pathOf, queryOf, requestWith } from '../support/openapi.ts'
import { pdf } from '../support/pdf.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadAvatar, uploadDocuments, uploadPictures } from '../support/uploads.ts'
import { expectUnavailable, untilHealth } from './unwritable.ts'

async function makeReadOnly(on: boolean) {
  const url = new URL(variable('DATABASE_URL')!)
  url.username = superuser
  url.password = passwordOf(secretsOf(variable('LOCAL_STACK')!), superuser)
  const client = new pg.Client(databaseAt(url.href))
  await client.connect()
  try {
    const setting = 'default_transaction_read_only'
    await client.query(`alter system ${on ? `set ${setting} = on` : `reset ${setting}`}`)
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}

let owner: Person
let callers: Record<string, Person | undefined>
let ids: Record<string, string>
const acts: [name: string, act: () => Promise<Reply>][] = []

/** This read is refused, because it must be recorded in the audit trail. */
const audited = 'get_admin_document'
const reads = operations.filter(({ id, method }) => method === 'GET' && id !== audited)
const writes = operations.filter(({ method }) => method !== 'GET')

function ask(operation: Operation, person: Person | undefined) {
  const area = operation.path.split('/')[1]!
  const query = operation.id === 'list_reviews'
    ? queryOf(operation, { identityId: ids.company! })
    : queryOf(operation)
  const path = pathOf(operation, { ...ids, id: ids[area]! }) + query
  return (person ?? guest).get(path)
}

async function furnish() {
  const people = await Promise.all([signUp(), signUp(), signUpAdmin(), signUp(), signUp()])
  const [first, other, admin, company, office] = people
  owner = first
  const listing = await insertListing(owner.identityId)
  const picture = jpeg({ width: 8, height: 8 })
  const { body: { files: [uploaded] } } = await uploadPictures(owner, [picture])
  const papers = await insertWaitingCompany(owner.id)
  const paper = await uploadDocuments(owner, papers, [pdf()])
  const actAs = async (person: Person, type: 'company' | 'office') => {
    const identityId = await insertOrganisation(person.id, type)
    expect((await person.post('/auth/identity/switch', { identityId })).status).toBe(200)
    return identityId
  }
  const conversation = await conversationBetween(other, owner)
  await sendMessageAs(other, conversation)
  const invoice = (await topUp(owner)).id
  ids = {
    userId: owner.id,
    identityId: papers,
    documentId: paper.body.files[0].documentId,
    mediaId: uploaded.mediaId,
    invoiceId: invoice,
    propertyId: listing,
    properties: listing,
    conversations: conversation,
    identities: owner.identityId,
    company: await actAs(company, 'company'),
    office: await actAs(office, 'office'),
    invoices: invoice,
  }
  callers = { guest: undefined, owner, other, admin, company, office }
  await planActs(other)
}

/** Prepares a person's actions that would succeed if the database were writable. */
async function planActs(person: Person) {
  const draft = await createDraft(person, completeFields.SALE)
  const callback = sandboxCallback((await payWithoutCallback(person)).ref)
  const invoice = await topUpInvoice(person)
  const message = textMessage('سلام')
  const [password, fullName] = [randomUUID(), 'سالم العنزي']
  const [email, phone] = [newEmail(), newPhone()]
  const { refreshToken } = await signIn(person.identifier, person.password)
  const me = { identifier: person.identifier, password: person.password }
  const picture = jpeg({ width: 8, height: 8 })
  const papers = await insertWaitingCompany(person.id)
  const { properties: listing, conversations: conversation } = ids
  acts.push(
    ['register', () => guest.post('/auth/register', { identifier: email, password, fullName })],
    ['by phone', () => guest.post('/auth/register', { identifier: phone, password, fullName })],
    ['sign in', () => guest.post('/auth/login', me)],
    ['refresh', () => guest.post('/auth/refresh', { refreshToken })],
    ['change the profile', () => person.patch('/auth/me', { fullName })],
    ['publish', () => person.post(`/properties/${draft.id}/publish`)],
    ['save', () => person.post(`/favorites/${listing}`)],
    ['contact', () => person.post(`/properties/${listing}/contact`, { kind: 'chat' })],
    ['write', () => postMessage(person, conversation!, message)],
    ['upload an avatar', () => uploadAvatar(person, picture)],
    ['upload pictures', () => uploadPictures(person, [picture])],
    ['upload a document', () => uploadDocuments(person, papers, [pdf()])],
    ['top up', () => person.post('/wallet/topup', { amount: 10 })],
    ['charge', () => person.post('/payments/charge', { invoiceId: invoice.id, returnUrl })],
    ['the webhook of a payment', () => sendCallback(callback)],
    ['block', () => person.post(`/blocks/${ids.company}`)],
    ['sign out', () => person.post('/auth/logout', {})],
  )
}

// The order matters, because the last test makes the database writable again.
describe.runIf(hasStack)('CRASH-06 a database that is read-only', { shuffle: false }, () => {
  const before = new Map<string, number>()

  beforeAll(async () => {
    await furnish()
    for (const operation of reads) {
      for (const [name, person] of Object.entries(callers)) {
        before.set(`${operation.id} ${name}`, (await ask(operation, person)).status)
      }
    }
    await makeReadOnly(true)
    await untilHealth('degraded', 'read_only')
  })

  afterAll(() => makeReadOnly(false))

  test.each(reads)('GET $path answers as before', async (operation) => {
    const statuses = Object.entries(callers).map(async ([name, person]) => {
      const { status } = await ask(operation, person)
      expect(status, name).toBe(before.get(`${operation.id} ${name}`))
      return status
    })
    expect(await Promise.all(statuses)).toContain(200)
  })

  test('the figures say it', async () => {
    const token = randomUUID()
    const facade = await startFacade({ METRICS_TOKEN: token })
    try {
      const headers = { authorization: `Bearer ${token}` }
      const figures = await (await fetch(`${facade.url}/metrics`, { headers })).text()
      expect(figures).toContain('\nmarketplace_database_read_only 1\n')
      expect(figures).toContain('\nmarketplace_part_up{part="database"} 0\n')
    } finally {
      await facade.stop()
    }
  })

  test('an administrator reads no document unrecorded', async () => {
    const path = `/admin/documents/${ids.documentId}`
    expectUnavailable(await callers.admin!.get(path))
    expect((await callers.other!.get(path)).status).toBe(403)
  })

  test.each(writes)('$method $path does nothing, or says when to try again', async (operation) => {
    const { path, body } = requestWith(operation)
    const headers = { authorization: `Bearer ${owner.accessToken}` }
    const reply = await request(operation.method, path, body, { headers })
    if (reply.status === 503) expectUnavailable(reply)
    else if (['search', 'count_listings'].includes(operation.id)) expect(reply.status).toBe(200)
    else if (operation.id === 'forgot_password') expect(reply.status).toBe(202)
    else expect(Math.floor(reply.status / 100)).toBe(4)
  })

  test('a forgotten password is answered like that of nobody, and nothing is sent', async () => {
    for (const identifier of [owner.identifier, newEmail()]) {
      const { status, body } = await guest.post('/auth/password/forgot', { identifier })
      expect([status, body]).toEqual([202, { resendAfter: 45, resetId: expect.any(String) }])
    }
    expect(await inboxOf(owner.identifier)).toEqual([])
  })

  test('no act is half done: each is 503, and done whole once the database takes it', async () => {
    for (const [name, act] of acts) expectUnavailable(await act(), name)
    expect((await runJobs()).expire_listings).toHaveProperty('done')
    await makeReadOnly(false)
    await untilHealth('ok', 'ok')
    for (const [name, act] of acts) {
      const { status, body } = await act()
      expect(Math.floor(status / 100), `${name} ${JSON.stringify(body)}`).toBe(2)
    }
    expect(Object.values(await runJobs()).filter(({ error }) => error)).toEqual([])
  })
})
