import { expect, test } from 'vitest'
import type { Api, Events } from './described.ts'
import { shapesIn } from './shapes.ts'
import { faultsOf } from './shown.ts'
import { described } from './described.ts'

const text = { type: 'string' }
const schemas = {
  Problem: {
    properties: {
      error: {
        properties: { code: text, message: text },
        'x-details': { quota_exceeded: ['limit', 'used'] },
      },
    },
  },
  Thing: {
    properties: {
      id: text,
      state: { type: 'string', enum: ['open', 'paid'] },
      note: { type: ['string', 'null'] },
      owner: { properties: { name: text }, required: ['name'] },
    },
    required: ['id', 'state', 'note'],
  },
}
const thing = { $ref: '#/components/schemas/Thing' }
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const api: Api = {
  components: { schemas },
  paths: {
    '/things': {
      get: { responses: { 200: json({ properties: { items: { items: thing } } }) } },
      post: {
        requestBody: json({
          properties: { state: text, size: { type: 'number' } },
          required: ['state'],
        }),
        responses: { 201: json(thing) },
      },
    },
  },
}
const payload = { properties: { event: { enum: ['moved'] }, data: { properties: { to: text } } } }
const events: Events = {
  components: { schemas: {} },
  channels: { gateway: { messages: { moved: { name: 'moved', payload } } } },
}

const all = described(api, events)
const faults = (page: string) => shapesIn(page).flatMap((shown) => faultsOf(shown, all))

test.each([
  '- `POST /things {state, size?}` → 201 `{id, state:"open"|"paid", note?, owner?{name}}`.',
  '| POST /things | `{state: open\\|paid, size (in metres)}` | `{id, …}`; 402 quota_exceeded `{limit, used}` |',
  '`GET /things` gives `{items: [{id, state, note}]}`.',
  '| `moved` | `{"event":"moved","data":{"to":"…"}}` |',
  'Its `owner {name}`, and `{to}` of `moved {to}`.',
  '`POST /things`:\n\n```\nid, state, note,\n  owner {name}\n```\n',
  '```json\n{"error": {"code": "…", "message": "…"}}\n```\n',
  '`GET /things/{id}`, `client.get("/things", { query: { limit: 1 } })`, `rate{code="x"}`',
  'An address has `{refNo}` in it, and `{ uri, name }` is a file of an app.',
])('what is as described may stand: %s', (page) => {
  expect(faults(page)).toEqual([])
})

test.each([
  ['- `POST /things {state, colour}`', ['has no colour']],
  ['- `POST /things {size}`', ['leaves out state']],
  ['- `POST /things {state?}`', ['state is always there']],
  ['- `POST /things {state, size: "long"}`', ['size is never "long"']],
  ['`POST /things` → `{id, state:"open"|"void", …}`', ['state is never "void"']],
  ['`POST /things` → `{id, owner{age}, …}`', ['owner has no age', 'owner leaves out name']],
  ['402 quota_exceeded `{limit, left}`', ['has no left']],
  ['`moved {from}`', ['has no from']],
  ['An error is `{code, message, …}`.', ['has no code', 'has no message']],
  ['```json\n{"error": {"text": "…"}}\n```\n', ['error has no text']],
])('what is not is found: %s', (page, expected) => {
  expect(faults(page)).toEqual(expected)
})
