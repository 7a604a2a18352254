import { z } from '@hono/zod-openapi'
import { call } from '../../_shared/database/db.ts'
import { area, body, forAdmins, json, pageOf, route, send, sendNothing } from '../http/route.ts'
import { Claim, UserHistory } from './schemas-desk.ts'
import { NewNote, Note, NoteQuery } from './schemas-notes.ts'

const tags = ['admin']
const OneItem = z.strictObject({ id: z.uuid().describe('Of an item of the moderation list.') })

const claim = route({
  ...forAdmins,
  tags,
  operationId: 'claim_moderation',
  method: 'post',
  path: '/moderation/{id}/claim',
  summary: 'Say that I look at an item, and see who does',
  description:
    'A sign for 15 minutes, and no lock: whoever decides decides. Where another looks at it already it ' +
    'stays theirs. Sent again it lasts anew, and tells who has decided what meanwhile.',
  errors: ['not_found'],
  request: { params: OneItem },
  responses: { 200: json(Claim, 'Mine or another’s.') },
})

const release = route({
  ...forAdmins,
  tags,
  operationId: 'release_moderation',
  method: 'post',
  path: '/moderation/{id}/release',
  summary: 'Say that I look at an item no longer',
  description: 'Can be repeated. What another claimed stays theirs.',
  request: { params: OneItem },
  responses: { 204: { description: 'Not mine.' } },
})

const addNote = route({
  ...forAdmins,
  tags,
  operationId: 'add_note',
  method: 'post',
  path: '/notes',
  summary: 'Note something about a person, a listing or a case',
  description:
    'Administrators alone read it; no export has it. It goes with what it is about, at the latest with ' +
    'the account.',
  errors: ['not_found'],
  request: body(NewNote),
  responses: { 201: json(Note, 'Noted.') },
})

const notes = route({
  ...forAdmins,
  tags,
  operationId: 'list_notes',
  method: 'get',
  path: '/notes',
  summary: 'List what administrators noted, newest or oldest first',
  description: 'About a thing, about an account and all that is its own, or all of it.',
  request: { query: NoteQuery },
  responses: { 200: json(pageOf('NotePage', Note), 'A page of notes.') },
})

const history = route({
  ...forAdmins,
  tags,
  operationId: 'get_user_history',
  method: 'get',
  path: '/users/{userId}/history',
  summary: 'Get all about a person in one request',
  description:
    'Identities, listings, reports, invoices with their payments, what administrators did and noted, ' +
    'and how many sessions are open. What there is more of is in the lists, by the id of the account.',
  errors: ['user_not_found'],
  request: { params: z.strictObject({ userId: z.uuid() }) },
  responses: { 200: json(UserHistory, 'The newest 50 of each.') },
})

export const adminDesk = area()
  .openapi(claim, async (c) => send(c, await call(c, 'claim_moderation', c.req.valid('param'))))
  .openapi(release, async (c) => {
    await call(c, 'release_moderation', c.req.valid('param'))
    return sendNothing(c)
  })
  .openapi(history, async (c) => send(c, await call(c, 'get_user_history', c.req.valid('param'))))
  .openapi(addNote, async (c) => {
    const { text: note, ...target } = c.req.valid('json')
    return send(c, await call(c, 'add_note', { ...target, note }), 201)
  })
  .openapi(notes, async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query')
    const page = { ...filters, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_notes', page))
  })
