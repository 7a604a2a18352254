import { call } from '../../_shared/database/db.ts'
import { area, body, forAdmins, json, pageOf, route, send } from '../http/route.ts'
import { NewNote, Note, NoteQuery } from './schemas-desk.ts'

const tags = ['admin']

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

export const adminDesk = area()
  .openapi(addNote, async (c) => {
    const { text: note, ...target } = c.req.valid('json')
    return send(c, await call(c, 'add_note', { ...target, note }), 201)
  })
  .openapi(notes, async (c) => {
    const { cursor, limit, ...filters } = c.req.valid('query')
    const page = { ...filters, pageCursor: cursor, pageSize: limit }
    return send(c, await call(c, 'list_notes', page))
  })
