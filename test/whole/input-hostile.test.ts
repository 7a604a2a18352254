import { beforeAll, describe, expect, test } from 'vitest'
import { asCaller, database, request } from '../support/client.ts'
import { type Input, inputsOf, type Operation } from '../support/openapi.ts'
import { fillWorld } from '../search/world.ts'
import { each, isText, routes, type Senders, signUpSenders, someOf } from './input-requests.ts'

// Sends texts with a meaning in SQL, tsquery, LIKE, regular expressions, JSON paths, formats or file systems
// for every text input of every route. answers.ts checks that no response is a 5xx or missing from the
// OpenAPI description. Some searches use their index only among thousands of listings, so there are many.

let senders: Senders

beforeAll(async () => {
  ;[senders] = await Promise.all([signUpSenders(), fillWorld()])
})

const hostile = [
  `'`,
  `"`,
  '\\',
  ';--',
  `' OR 1=1--`,
  '1); select pg_sleep(3)--',
  '$$',
  `E'\\''`,
  '%27',
  '\\u0027',
  '{{7*7}}',
  '${7*7}',
  '%',
  '_',
  'a & | !',
  '<->',
  ':*',
  '((((',
  'x,owner_identity_id.neq.0',
  '%,title.ilike.%a%',
  'a),or(status.eq.draft',
  '../../etc/passwd',
  '..%5c..',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'a\\b',
  `a\\' & !'b`,
  `'a':*`,
  `a'b`,
  '[',
  '(?<',
  '\\1',
  '%s%L%1$I',
  '$.a ? (@ > 1)',
  '{a,"b',
]

/** Returns every fifth value; in nightly runs, all values for inputs that search stored text. */
const valuesOf = (index: number, looksFor: boolean) =>
  looksFor ? someOf(hostile, index) : hostile.filter((_, i) => i % 5 === index % 5)

const valuesFor = (input: Input, index: number, looksFor: boolean) =>
  valuesOf(index, looksFor).map((value) => ({ input, value }))

const looksFor = ({ method, tags }: Operation, input: Input) =>
  input.in !== 'path' && (method === 'GET' || tags.includes('search'))

describe('INP-01 INP-03 INP-16 SQL, patterns and paths in every text', () => {
  test.each(routes)('$method $path', async ({ operation }) => {
    const cells = inputsOf(operation).filter(isText)
      .flatMap((input, index) => valuesFor(input, index, looksFor(operation, input)))
    await each(
      cells,
      ({ input, value }) => senders.call(operation, senders.built(operation, input, value)),
    )
  })

  test('in the headers that the app reads', async () => {
    const refused: Record<string, number> = { authorization: 401, 'x-expect-identity': 422 }
    for (const value of hostile.filter((one) => !/[^\x20-\x7e]/.test(one))) {
      for (
        const name of [
          'accept-language',
          'authorization',
          'idempotency-key',
          'if-match',
          'if-none-match',
          'x-expect-identity',
          'x-forwarded-for',
          'user-agent',
        ]
      ) {
        const { status } = await request('GET', '/favorites/ids', undefined, {
          headers: { ...senders.headers(), [name]: value },
        })
        expect(status, `${name}: ${value}`).toBe(refused[name] ?? 200)
      }
    }
  })

  test('no table was created or dropped', async () => {
    const { rows } = await database().query(
      `select string_agg(tablename, ' ' order by tablename) as names from pg_tables
       where schemaname in ('public', 'private', 'api')`,
    )
    expect(rows[0].names).toMatch(/ accounts .* areas auctions .* properties /)
  })
})

describe('INP-01 INP-03 past the facade', () => {
  // SQLSTATEs of syntax errors, unknown names, unfinished patterns, exceeded limits and server errors.
  const misread = /^(42(?!501)|2201B|22025|54|XX)/
  const filters = inputsOf(routes.find(({ path }) => path === '/search/advanced')!.operation)
    .map(({ name }) => name.split('.')[0]!)

  /** Returns, for each search strategy, the arguments that a function needs before it reads the others. */
  function contexts(names: string[]): Record<string, string>[] {
    if (names.includes('bbox')) return [{ bbox: `'[47.9,29.2,48.1,29.4]'`, zoom: '12' }]
    if (!names.includes('strategy')) return [{}]
    return ['standard', 'exchange', 'auction', 'deal', 'company']
      .map((strategy) => ({ strategy: `'${strategy}'` }))
  }

  test('no function of the Data API or the facade reads a text as anything else', async () => {
    const { rows } = await database().query(
      `select pronamespace::regnamespace || '.' || proname as name, arg.name as arg, arg.type::regtype::text as type,
         proargnames[1:pronargs] as names, proargnames[1:pronargs - pronargdefaults] as required,
         (proargtypes::oid[]::regtype[]::text[]) as types
       from pg_proc
       cross join lateral unnest(proargnames[1:pronargs], proargtypes::oid[]) as arg (name, type)
       where (pronamespace = 'api'::regnamespace
           or obj_description(pg_proc.oid, 'pg_proc') like 'Facade: %')
         and has_function_privilege('authenticated', pg_proc.oid, 'execute')
         and arg.type in ('text'::regtype, 'jsonb'::regtype)
       order by 1, 2`,
    )
    expect(rows.length).toBeGreaterThan(100)
    await asCaller(senders.owner, async (client) => {
      for (const [index, { name, arg, type, names, required, types }] of rows.entries()) {
        const calls = contexts(names).map((given) =>
          [...new Set([...required as string[], ...Object.keys(given)])]
            .filter((one) => one !== arg)
            .map((one) => `${one} => ${given[one] ?? `null::${types[required.indexOf(one)]}`}`)
            .concat(`${arg} => $1::${type}`)
        )
        const all = arg === 'q' || arg === 'filters'
        for (const value of valuesOf(index, all)) {
          const texts = type === 'text'
            ? [value]
            : [value, ...new Set(arg === 'filters' ? filters : ['id'])].map((key) =>
              JSON.stringify({ [key]: /s$/.test(key) ? [value] : value })
            )
          for (const [text, call] of texts.flatMap((text) => calls.map((call) => [text, call]))) {
            await client.query('savepoint before')
            const failure = await client.query(`select ${name}(${call})`, [text])
              .then(() => ({ code: '', message: '' }), (error) => error)
            expect(failure.code, `${name} ${arg} ${text}: ${failure.message}`).not.toMatch(misread)
            await client.query('rollback to savepoint before; release savepoint before')
          }
        }
      }
    })
  })
})
