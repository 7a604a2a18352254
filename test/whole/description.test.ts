import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { repeatablePosts } from '../../client/src/openapi.ts'
import { validatorOf } from '../../local/docs/validators.ts'
import { database, guest, signUp } from '../support/client.ts'
import {
  concreteSchema,
  description,
  operations,
  plainDescription,
  resolve,
  type Schema,
} from '../support/openapi.ts'
import { ownVersionIn, versionFiles } from '../suite/version-files.ts'

const validate = validatorOf(plainDescription.components.schemas)

type Bounds = Pick<Schema, 'minimum' | 'maximum' | 'minLength' | 'maxLength'>

/** Matches a limit in a check constraint: the column or its length, the comparison and the value. */
const comparison =
  /(?:char_length\((?<text>\w+)\)|\((?<number>\w+)) (?<sign>[<>]=) \(?'?(?<bound>-?[\d.]+)/g

function boundsIn(constraint: string, column: string): Bounds {
  const bounds: Bounds = {}
  for (const { groups } of constraint.matchAll(comparison)) {
    const { text, number, sign, bound } = groups!
    if ((text ?? number) !== column) continue
    const of = text ? ['minLength', 'maxLength'] as const : ['minimum', 'maximum'] as const
    bounds[sign === '>=' ? of[0] : of[1]] = Number(bound)
  }
  return bounds
}

async function boundsOf(table: string): Promise<Record<string, Bounds>> {
  const { rows } = await database().query(
    `select attributes.attname as column, pg_get_constraintdef(constraints.oid) as constraint,
       constraints.contypid <> 0 as of_type
     from pg_attribute as attributes
     join pg_constraint as constraints on constraints.contype = 'c' and (
       constraints.conrelid = attributes.attrelid and attributes.attnum = any (constraints.conkey)
       or constraints.contypid = attributes.atttypid)
     where attributes.attrelid = $1::regclass and attributes.attnum > 0`,
    [table],
  )
  const bounds: Record<string, Bounds> = {}
  for (const { column, constraint, of_type: ofType } of rows) {
    const found = boundsIn(constraint, ofType ? 'VALUE' : column)
    bounds[column] = { ...found, ...bounds[column] }
  }
  return bounds
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const bodies = [
  ['NewProperty', 'public.properties'],
  ['PropertyChanges', 'public.properties'],
  ['NewAuction', 'public.auctions'],
  ['AddIdentityBody', 'public.organisations'],
  ['UpdateIdentityBody', 'public.organisations'],
  ['SendMessageBody', 'public.messages'],
  ['CreateReviewBody', 'public.reviews'],
  ['AddReportBody', 'public.reports'],
  ['RegisterDeviceBody', 'public.devices'],
] as const

describe('what a body takes is what the database takes', () => {
  // These bounds differ: the last year depends on the current year, the smallest step has three decimals in
  // the OpenAPI description, and an empty text counts as absent.
  const elsewhere = [
    'buildingYear.maximum',
    'minIncrement.minimum',
    'comment.minLength',
    'note.minLength',
  ]

  test.each(bodies)('%s', async (name, table) => {
    const bounds = await boundsOf(table)
    const { properties = {} } = resolve({ $ref: `#/components/schemas/${name}` })
    const compared = Object.entries(properties).flatMap(([field, schema]) =>
      Object.entries(bounds[snake(field)] ?? {})
        .map((
          [bound, value],
        ) => [`${field}.${bound}`, concreteSchema(schema)[bound as 'minimum'], value])
    ).filter(([field]) => !elsewhere.includes(String(field)))
    expect(compared.length).toBeGreaterThan(0)
    expect(compared.map(([field, said]) => [field, said])).toEqual(
      compared.map(([field, , kept]) => [field, kept]),
    )
  })
})

test('no pattern carries flags of JavaScript, which a description cannot have', () => {
  const patterns = JSON.stringify(description).match(/"pattern":"(?:[^"\\]|\\.)*"/g)!
  expect(patterns.length).toBeGreaterThan(5)
  expect(patterns.filter((pattern) => /\/[a-z]+"$/.test(pattern))).toEqual([])
})

const box = '47.9,29.2,48.1,29.4'
test.each([
  ['/search', 'areaIds', ['salmiya', 'salmiya,hawalli'], ['', ',', 'salmiya,', 'a'.repeat(61)]],
  ['/search', 'kinds', [], ['', ',', Array(201).fill('villa').join()]],
  ['/search', 'near', ['29.33,48.07,3'], ['', '29.33,48.07', '29.33,48.07,3,4', '29.33,48.07,1e0']],
  ['/search', 'bbox', [box], ['', `${box},1`, '47.9,29.2,48.1', '47.9,29.2,48.1,']],
  ['/map/listings', 'bbox', [box], ['', `${box},1`, '47.9,29.2,48.1', '47.9,29.2,48.1,x']],
])('%s says how a list in %s is written', async (path, name, taken, refused) => {
  const { schema } = operations.find((one) => one.path === path)!.parameters
    .find((one) => one.name === name)!
  for (const value of [...taken, ...refused]) {
    const query = new URLSearchParams({
      ...(path.startsWith('/map') && { zoom: '9' }),
      [name]: value,
    })
    const { status } = await guest.get(`${path}?${query}`)
    const fits = new RegExp(schema.pattern!, 'u').test(value)
    expect([value, status, fits]).toEqual([
      value,
      ...taken.includes(value) ? [200, true] : [422, false],
    ])
  }
})

const id = randomUUID()
const proof = { password: randomUUID() }
const near = { lat: 29.3, lng: 48, km: 3 }
test.each([
  ['/conversations', { propertyId: id }, true],
  ['/conversations', { propertyId: id, identityId: id }, true],
  ['/conversations', {}, false],
  ['/conversations', { message: 'مرحبا' }, false],
  ['/search/advanced', { strategy: 'company', companyId: id }, true],
  ['/search/advanced', { strategy: 'standard', companyId: id }, false],
  ['/search/count', { strategy: 'exchange', requestYearMin: 2020 }, true],
  ['/search/count', { strategy: 'auction', requestYearMin: 2020 }, false],
  ['/search/advanced', { strategy: 'exchange', requestYearMax: 6332 }, false],
  ['/search/advanced', { strategy: 'deal', sort: 'drop_desc' }, true],
  ['/search/advanced', { strategy: 'company', sort: 'drop_desc' }, false],
  ['/search/advanced', { strategy: 'auction', sort: 'ends_at' }, true],
  ['/search/advanced', { strategy: 'standard', sort: 'ends_at' }, false],
  ['/search/advanced', { strategy: 'standard', sort: 'distance', near }, true],
  ['/search/advanced', { strategy: 'standard', sort: 'distance' }, false],
  ['/search/advanced', { strategy: 'standard', kinds: ['a villa'] }, false],
  ['/properties', { type: 'EXCHANGE', requestYear: 2020 }, true],
  ['/properties', { type: 'EXCHANGE', requestYear: 6332 }, false],
  ['/properties', { type: 'SALE', buildingYear: 6332 }, false],
  ['/auth/me/delete', proof, true],
  ['/auth/me/delete', {}, false],
  ['/auth/me/delete', { ...proof, code: '123456' }, false],
  ['/auth/me/email', { email: 'noura@example.com', currentPassword: proof.password }, true],
  [
    '/auth/me/email',
    { email: 'noura@example.com', currentPassword: proof.password, code: '123456' },
    false,
  ],
])('%s %j fits the schema and is taken, or neither: %s', async (path, body, isTaken) => {
  // The simplified description, which client generators and mock servers read.
  const { content } = plainDescription.paths[path]!.post!.requestBody!
  const wrong = validate(content['application/json']!.schema, body)
  const { status } = await (await signUp()).post(path, body)
  expect([wrong === undefined, status !== 422], wrong).toEqual([isTaken, isTaken])
})

test('the contract lists the routes that take an Idempotency-Key', () => {
  const page = readFileSync(new URL('../../docs/contract/base.md', import.meta.url), 'utf8')
  const [, listed] = /take `Idempotency-Key` \(.*?\)[^:]*: ([^.]+)\./s.exec(page)!
  const paths = [...listed!.matchAll(/`(.+?)`/g)].map(([, path]) =>
    path!.replace(/:(\w+)/g, '{$1}')
  )
  expect(paths.toSorted()).toEqual(repeatablePosts.toSorted())
})

test('every vocabulary that a field names is at /meta/enums', async () => {
  const { body } = await guest.get('/meta/enums')
  const named = JSON.stringify(description).matchAll(/A code of `(\w+)` at `GET \/meta\/enums`/g)
  const vocabularies = [...new Set([...named].map(([, name]) => name!))]
  expect(vocabularies.length).toBeGreaterThan(5)
  for (const name of vocabularies) expect(Object.keys(body)).toContain(name)
})

test('the API, the client and the project say one version, and so does each file that a release changes', () => {
  const textOf = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  const { version } = description.info
  expect(
    ['package.json', 'package-lock.json', 'client/package.json'].map((file) =>
      JSON.parse(textOf(file)).version
    ),
  ).toEqual([version, version, version])
  const without = versionFiles.filter((file) => !ownVersionIn(file, textOf(file)).includes(version))
  expect(without).toEqual([])
  const said = textOf('docs/releases.md')
  expect(versionFiles.filter((file) => !said.includes(`\`${file}\``))).toEqual([])
})
