// INP-23 without the facade: if a text argument of a function is too long and the other arguments are valid,
// the function refuses it at once and by name. This covers all functions that clients can execute.
import { createHash } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { asCaller, database, type Person, signUp } from '../support/client.ts'
import { conversationBetween } from '../support/conversations.ts'
import { insertListing, insertReviews } from '../support/fixtures.ts'
import {
  concreteSchema,
  type Input,
  inputsOf,
  type Operation,
  operations,
  requestWith,
  typeOf,
} from '../support/openapi.ts'
import { cheaply, type Senders, signUpSenders, someOf } from './input-requests.ts'

const text = '\u0651\u064e'.repeat(4000)

/** Arguments that may be too long, with the reason. */
const silent: Record<string, string> = {
  'api.register_device app_version': 'for information: left out',
  'api.register_device locale': 'the same',
  'api.remove_device device_id': 'it is only compared, and no device has such an id',
  'private.change_setting name': 'it is only compared, and no setting has such a name',
  'private.add_passkey credential_id': 'as what was verified gives it, to the facade alone',
  'private.add_passkey public_key': 'the same',
  'private.add_passkey rp_id': 'the same',
  'private.add_passkey name': 'read by the facade, which alone calls it',
  'private.begin_passkey challenge': 'made by the facade, which alone calls it',
  'private.begin_passkey rp_id': 'the same',
  'private.take_passkey_challenge credential_id': 'it is only compared',
  'private.begin_upload bucket': 'a word of the facade, which alone calls it',
  'private.list_feed filter': 'the same',
  'private.precheck_contact kind': 'the same',
  'private.precheck_contact idempotency_key': 'the same; it is hashed',
}
/** JSON arguments that do not contain fields of a body. */
const lists: Record<string, string> = {
  'private.begin_export filters': 'what a list was asked for, which is only kept',
  'api.upload_documents again': 'hashes of files, which are only compared',
  'api.upload_listing_media again': 'the same',
}
/** Fields that a body may contain because records contain them. They are neither read nor stored. */
const unread = ['rentConditions.0.text', 'additionalExpenses.0.label']

type Row = {
  name: string
  arg: string
  type: 'text' | 'jsonb'
  required: string[]
  types: string[]
}
type Outcome = { code?: string; message?: string; fields: { path: string; code: string }[] }

let senders: Senders
let other: Person
let conversation: string
let review: string
let forRent: string
const organisations: Record<string, string> = {}

beforeAll(async () => {
  senders = await signUpSenders()
  other = await signUp()
  conversation = await conversationBetween(senders.owner, other)
  forRent = await insertListing(senders.owner.identityId, { type: 'RENT' })
  await insertReviews(other.identityId, 4, [senders.owner])
  const { rows: [row] } = await database().query(
    'select id from public.reviews where author_identity_id = $1',
    [senders.owner.identityId],
  )
  review = row.id
  for (const who of ['company', 'office']) {
    const { rows: [row] } = await database().query(
      'select id from public.identities where account_id = $1 and type = $2',
      [personOf(who).id, who],
    )
    organisations[who] = row.id
  }
})

const personOf = (who: string) =>
  (senders.people as Record<string, Person & { proof?: string }>)[who]!

function samplesFor(name: string, who: string): Record<string, string> {
  const organisation = organisations[who] ?? organisations.company
  return {
    strategy: `'standard'`,
    bbox: `'[47.9,29.2,48.1,29.4]'`,
    zoom: '12',
    filters: `'{}'`,
    fields: `'{}'`,
    type: /message/.test(name)
      ? `'text'`
      : /area_price/.test(name)
      ? `'SALE'`
      : `'${who === 'office' ? 'office' : 'company'}'`,
    property_id: `'${forRent}'`,
    conversation_id: `'${conversation}'`,
    client_message_id: 'gen_random_uuid()::text',
    identity_id: /advertiser/.test(name)
      ? `'${senders.owner.identityId}'`
      : /update_identity|organisation/.test(name)
      ? `'${organisation}'`
      : `'${other.identityId}'`,
    user_id: `'${other.id}'`,
    action: `'pause'`,
    kind: /area_price/.test(name) ? `'villa'` : `'chat'`,
    area_id: `'salmiya'`,
    rating: '5',
    platform: `'ios'`,
    device_id: `'a-device-of-mine'`,
    push_token: `'${'a'.repeat(60)}'`,
    body: `'شكراً'`,
    target_type: `'property'`,
    target_id: `'${senders.listing}'`,
    reason: /report/.test(name) ? `'spam'` : `'مخالفة'`,
    decision: `'approve'`,
    status: `'active'`,
    pay_with: `'wallet'`,
    destination: `'wallet'`,
    value: `'50001234'`,
    filter: `'all'`,
    page: '1',
    page_size: '20',
    bucket: `'listings'`,
    version: `'1'`,
    return_url: `'https://example.com'`,
    review_id: `'${review}'`,
    plan_id: '(select id from public.plans limit 1)',
    ...Object.fromEntries(
      ['invoice_id', 'upload_id', 'id'].map((one) => [one, 'gen_random_uuid()']),
    ),
  }
}

async function outcomeOf(row: Row, who: string, value: string): Promise<Outcome> {
  const samples = samplesFor(row.name, who)
  const call = row.required.filter((one) => one !== row.arg)
    .map((one) => `${one} => ${samples[one] ?? `null::${row.types[row.required.indexOf(one)]}`}`)
    .concat(`${row.arg} => $1::${row.type}`)
  return await asCaller(personOf(who), async (client) => {
    const { proof = '' } = personOf(who)
    const hash = createHash('sha256').update(proof).digest('hex')
    await client.query(`select set_config('facade.proof', $1, true)`, [hash])
    const { code, message, detail } = await client.query(`select ${row.name}(${call})`, [value])
      .then(() => ({ code: undefined, message: undefined, detail: '{}' }), (error) => error)
    return { code, message, fields: JSON.parse(detail ?? '{}').fields ?? [] }
  })
}

async function asWhoMay(row: Row, value: string): Promise<Outcome> {
  let outcome: Outcome | undefined
  for (const who of ['owner', 'admin', 'company', 'office']) {
    outcome = await outcomeOf(row, who, value)
    const elsewhere = row.name.endsWith('identity') && outcome.code === 'PT404'
    if (outcome.code !== 'PT403' && !elsewhere) break
  }
  return outcome!
}

type Field = { operation: Operation; input: Input }
const isText = ({ in: where, schema }: Input) => where === 'body' && typeOf(schema) === 'string'
const fields: Field[] = operations.flatMap((operation) =>
  inputsOf(operation).filter(isText).map((input) => ({ operation, input }))
)
const isInside = ({ input }: Field) => input.name.includes('.')
const isFree = ({ input }: Field) => {
  const { enum: words, pattern, format, maxLength } = concreteSchema(input.schema)
  return maxLength !== undefined && maxLength > 64 && !words && !pattern && !format
}

/**
 * Returns a body with the value in one field. Terms (of rent or expenses) get the code `other`, because only
 * terms with this code may have free text.
 */
function bodyWith(row: Row, { operation, input }: Field, value: string) {
  const [top] = input.name.split('.')
  const part = requestWith(operation, input, value).body![top!]
  for (const term of Array.isArray(part) ? part : []) {
    if (term?.code && term.code !== value) term.code = 'other'
  }
  return { ...(row.name === 'api.create_property' && { type: 'RENT' }), [top!]: part }
}

const camelCase = (name: string) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())
const nameOf = (arg: string) => arg === 'page_cursor' ? 'cursor' : camelCase(arg)

const functions = async (): Promise<Row[]> =>
  (await database().query(
    `select pronamespace::regnamespace || '.' || proname as name, arg.name as arg,
       arg.type::regtype::text as type, proargnames[1:pronargs - pronargdefaults] as required,
       proargtypes::oid[]::regtype[]::text[] as types
     from pg_proc
     cross join lateral unnest(proargnames[1:pronargs], proargtypes::oid[]) as arg (name, type)
     where (pronamespace = 'api'::regnamespace
         or obj_description(pg_proc.oid, 'pg_proc') like 'Facade: %')
       and has_function_privilege('authenticated', pg_proc.oid, 'execute')
       and arg.type in ('text'::regtype, 'jsonb'::regtype)
     order by 1, 2`,
  )).rows

test('INP-23 every text of every function is refused before anything is done with it', async () => {
  const rows = (await functions()).filter(({ type }) => type === 'text')
  expect(rows.length).toBeGreaterThan(100)
  const others: unknown[] = []
  for (const row of rows) {
    const outcome = await cheaply(() => asWhoMay(row, text))
    const isTold = outcome.code === 'PT422' && outcome.fields[0]?.path === nameOf(row.arg)
    if (isTold === `${row.name} ${row.arg}` in silent) others.push([row.name, row.arg, outcome])
  }
  expect(others).toEqual([])
})

test('INP-23 so is every text inside of what is JSON', async () => {
  const rows = (await functions()).filter(({ name, arg, type }) =>
    type === 'jsonb' && !(`${name} ${arg}` in lists)
  )
  expect(rows.length).toBeGreaterThan(8)
  const others: unknown[] = []
  const known = new Map(fields.map((field) => [field.input.name, field]))
  for (const [index, row] of rows.entries()) {
    for (const field of someOf([...known.values()], index)) {
      const { name } = field.input
      const value = JSON.stringify(bodyWith(row, field, text))
      const outcome = await cheaply(() => asWhoMay(row, value))
      const [first] = name.split('.')
      const isTold = outcome.code === 'PT422' &&
        outcome.fields.some(({ path }) => [first, row.arg, ''].includes(path.split('.')[0]))
      const isUnread = unread.includes(name) && /_property$/.test(row.name)
      if (isTold === isUnread) others.push([row.name, row.arg, name, outcome])
    }
  }
  expect(others).toEqual([])
})

test('INP-23 of a text inside of a field nothing else is refused', async () => {
  const rows = await functions()
  const inside = fields.filter(isInside).filter(isFree)
    .filter(({ operation }) => rows.some(({ name }) => name === `api.${operation.id}`))
  const tried: string[] = []
  for (const field of inside) {
    const row = rows.find(({ name, type }) =>
      name === `api.${field.operation.id}` && type === 'jsonb'
    )
    if (!row) continue
    tried.push(`${field.operation.id} ${field.input.name}`)
    const { code, message } = await asWhoMay(row, JSON.stringify(bodyWith(row, field, 'بالاتفاق')))
    expect({ code, message }, tried.at(-1)).toEqual({ code: undefined, message: undefined })
  }
  for (const name of ['rentConditions.0.textAr', 'additionalExpenses.0.labelAr', ...unread]) {
    expect(tried).toContain(`create_property ${name}`)
  }
})
