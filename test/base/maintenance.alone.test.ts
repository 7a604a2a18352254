import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { closeCodes } from '../../functions/chat/protocol.ts'
import { signInAs } from '../accounts/social-sign-in.ts'
import { edit } from '../admin/studio.ts'
import { signUpAdmin } from '../support/admins.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import {
  database,
  guest,
  newEmail,
  newPhone,
  type Person,
  type Reply,
  signUp,
} from '../support/client.ts'
import { callDataApi } from '../support/data-api.ts'
import { hasStack, startFacade } from '../support/facade.ts'
import { insertListing, proveEmail } from '../support/fixtures.ts'
import { runJobs } from '../support/jobs.ts'

const metricsToken = randomUUID()
const said = { ar: 'نعود الساعة السادسة', en: 'We are back at six' }
const set = (value: unknown) =>
  edit('private.settings', 'maintenance', { value: JSON.stringify(value) }, 'name')

function expectClosed({ status, body, headers }: Reply, what?: string) {
  expect([status, body?.error?.code], what).toEqual([503, 'maintenance'])
  expect(body.error).toEqual({
    code: 'maintenance',
    message: said.ar,
    messageEn: said.en,
    retryAfter: 60,
    requestId: expect.any(String),
  })
  expect(headers.get('retry-after')).toBe('60')
  expect(headers.get('cache-control')).toBe('private, no-store')
}

const rowsOf = async (query: string, parameters: unknown[]) =>
  (await database().query(query, parameters)).rows

describe.runIf(hasStack)(
  'OPS-08 while the service is closed for maintenance',
  { shuffle: false },
  () => {
    let person: Person
    let admin: Person
    let owner: Person
    let leaving: Person
    const subject = randomUUID()
    const byGoogle = () => ({ sub: subject, email: leaving.identifier })
    let listing: string
    let chat: Awaited<ReturnType<typeof startConversation>>
    let socket: ChatSocket

    beforeAll(async () => {
      ;[person, admin, owner, leaving, chat] = await Promise.all([
        signUp(),
        signUpAdmin(),
        signUp(),
        signUp(),
        startConversation(),
      ])
      listing = await insertListing(owner.identityId)
      socket = await ChatSocket.connect(chat.a)
      await proveEmail(leaving)
      expect((await signInAs('google', byGoogle())).status).toBe(200)
      const { password } = leaving
      expect((await leaving.post('/auth/me/delete', { password })).status).toBe(202)
      await set(said)
    })
    afterAll(async () => {
      await set(null)
      socket?.close()
    })

    test('guests and people get the text, and nothing is written', async () => {
      for (
        const path of ['/search', '/feed', '/meta/kinds', '/meta/app', `/properties/${listing}`]
      ) expectClosed(await guest.get(path), path)
      for (
        const path of [
          '/auth/me',
          '/favorites',
          '/conversations',
          '/notifications',
          '/wallet',
          '/plans',
        ]
      ) expectClosed(await person.get(path), path)
      expectClosed(await person.post(`/favorites/${listing}`), 'favorite')
      expectClosed(await person.post('/properties', { type: 'SALE' }), 'listing')
      expectClosed(await person.post('/wallet/topup', { amount: 5 }), 'top-up')
      expectClosed(await person.post(`/properties/${listing}/contact`, { kind: 'call' }), 'contact')
      expectClosed(await person.get('/admin/stats'), 'a route of administrators')
      const headers = { 'x-expect-identity': randomUUID() }
      expectClosed(await person.get('/favorites', { headers }), 'another identity')
      const inEnglish = await guest.get('/search', { headers: { 'accept-language': 'en' } })
      expect(inEnglish.body.error.message).toBe(said.en)
      const written = await rowsOf(
        `select (select count(*) from public.favorites where identity_id = $1)
         + (select count(*) from public.properties where owner_identity_id = $1)
         + (select count(*) from public.invoices where identity_id = $1) as number`,
        [person.identityId],
      )
      expect(written).toEqual([{ number: '0' }])
    })

    test('nobody registers or gets a code, and a sign-in opens nothing', async () => {
      const password = randomUUID()
      for (const identifier of [newEmail(), newPhone()]) {
        expectClosed(await guest.post('/auth/register', { identifier, password }), identifier)
        const given = { identifier, purpose: 'register' }
        expectClosed(await guest.post('/auth/otp/resend', given), identifier)
        expect(await rowsOf('select from public.accounts where email = $1', [identifier])).toEqual(
          [],
        )
      }
      const phone = newPhone()
      expectClosed(await guest.post('/auth/register', { identifier: phone, password: 'x' }))
      expect(await rowsOf('select from private.registrations where phone = $1', [phone]))
        .toEqual([])
      const { identifier } = person
      expectClosed(await guest.post('/auth/password/forgot', { identifier }))
      const passwords = { newPassword: password, confirmPassword: password }
      const reset = { identifier, code: '123456', ...passwords }
      expectClosed(await guest.post('/auth/password/reset', reset))
      const verified = { identifier: newPhone(), code: '123456' }
      expectClosed(await guest.post('/auth/register/verify-otp', verified))

      const sessions = () => rowsOf('select id from auth.sessions where user_id = $1', [person.id])
      const before = await sessions()
      const wrong = await guest.post('/auth/login', { identifier, password })
      expect([wrong.status, wrong.body.error.code]).toEqual([401, 'invalid_credentials'])
      expectClosed(await guest.post('/auth/login', { identifier, password: person.password }))
      expect(await sessions()).toEqual(before)
    })

    test('a sign-in that is refused takes back no deletion, by password or by a provider', async () => {
      const state = () =>
        rowsOf(
          `select accounts.delete_at, count(sessions.id)::int as sessions from public.accounts
           left join auth.sessions on sessions.user_id = accounts.id
           where accounts.id = $1 group by accounts.id`,
          [leaving.id],
        )
      const before = await state()
      expect(before).toEqual([{ delete_at: expect.any(Date), sessions: 0 }])
      const { identifier, password } = leaving
      expectClosed(await guest.post('/auth/login', { identifier, password }), 'by password')
      expectClosed(await signInAs('google', byGoogle()), 'by Google')
      expect(await state()).toEqual(before)
    })

    test('a session is renewed, so that nobody is signed out by it', async () => {
      const { refreshToken } = person
      const { status, body } = await guest.post('/auth/refresh', { refreshToken })
      expect(status).toBe(200)
      expect(body.user.id).toBe(person.id)
      const headers = { authorization: `Bearer ${body.accessToken}` }
      expectClosed(await guest.get('/auth/me', { headers }))
      Object.assign(person, { accessToken: body.accessToken, refreshToken: body.refreshToken })
    })

    test('past the facade what writes is refused, too', async () => {
      for (
        const [name, args] of [
          ['toggle_favorite', { property_id: listing }],
          ['update_me', { fields: { fullName: 'سالم الجديد' } }],
          ['read_all_notifications', {}],
          ['update_settings', { fields: { language: 'en' } }],
          ['end_session', { session_id: randomUUID() }],
          ['upload_avatar', { upload_id: randomUUID() }],
        ] as const
      ) {
        const { status, text } = await callDataApi(person, name, args)
        expect([status, JSON.parse(text).message], name).toEqual([503, 'maintenance'])
      }
      const { status } = await callDataApi(admin, 'toggle_favorite', { property_id: listing })
      expect(status).toBe(200)
    })

    test('an open socket hears it, stays, and sends nothing; a new one is told to come again', async () => {
      const answers = await Promise.all(
        Array.from(
          { length: 3 },
          () => socket.sendMessage(chat.conversationId, 'هل ما زال متاحاً؟'),
        ),
      )
      for (const { event, data } of answers) {
        expect([event, data.code, data.message, data.retryAfter])
          .toEqual(['error', 'maintenance', said.ar, 60])
      }
      expect((await socket.ask('heartbeat', {})).event).toBe('ack')
      await expect(ChatSocket.connect(chat.b)).rejects.toThrow('maintenance')
      const late = new ChatSocket()
      await late.opened()
      late.socket.send(JSON.stringify({ event: 'auth', data: { accessToken: chat.b.accessToken } }))
      expect((await late.waitForClose()).code).toBe(closeCodes.unavailable)
      const replies = await Promise.all(
        [chat.a, chat.b].map((one) => postMessage(one, chat.conversationId)),
      )
      for (const reply of replies) expectClosed(reply)
      expect(
        await rowsOf('select from public.messages where conversation_id = $1', [
          chat.conversationId,
        ]),
      ).toEqual([])
    })

    test('administrators go on, in everything', async () => {
      const { identifier, password } = admin
      const login = await guest.post('/auth/login', { identifier, password })
      expect(login.status).toBe(200)
      for (
        const path of ['/admin/stats', '/admin/moderation', '/auth/me', '/search', '/favorites']
      ) {
        expect((await admin.get(path)).status, path).toBe(200)
      }
      expect((await admin.post(`/favorites/${listing}`)).status).toBe(200)
      const suspend = { status: 'suspended', reason: 'مخالفة لشروط النشر' }
      expect((await admin.patch(`/admin/users/${owner.id}/status`, suspend)).status).toBe(200)
      const lift = { status: 'active', reason: 'تمت المراجعة' }
      expect((await admin.patch(`/admin/users/${owner.id}/status`, lift)).status).toBe(200)
    })

    test('health, descriptions, webhooks and jobs go on', async () => {
      const own = await startFacade({ METRICS_TOKEN: metricsToken })
      try {
        const headers = { authorization: `Bearer ${metricsToken}` }
        const figures = await (await fetch(`${own.url}/metrics`, { headers })).text()
        expect(figures).toContain('\nmarketplace_maintenance 1\n')
      } finally {
        await own.stop()
      }
      for (const path of ['/health', '/errors', '/openapi.json', '/asyncapi.json']) {
        expect((await guest.get(path)).status, path).toBe(200)
      }
      const signed = { headers: { 'sandbox-signature': 'x' } }
      const webhook = await guest.post('/payments/webhook/sandbox', { id: randomUUID() }, signed)
      expect([webhook.status, webhook.body.error.code]).toEqual([401, 'webhook_signature_invalid'])
      const outcomes = await runJobs()
      expect(Object.entries(outcomes).filter(([, { error }]) => error)).toEqual([])
    })

    test('that it was closed is in the audit trail', async () => {
      const [entry] = await rowsOf(
        `select * from public.audit where action = 'setting.changed' order by id desc limit 1`,
        [],
      )
      expect(entry).toMatchObject({
        before: { name: 'maintenance', value: null },
        after: { name: 'maintenance', value: said },
      })
    })

    test('afterwards all is as before', async () => {
      await set(null)
      expect((await guest.get('/search?limit=1')).status).toBe(200)
      const { identifier, password } = person
      expect((await guest.post('/auth/login', { identifier, password })).status).toBe(200)
      const headers = { authorization: `Bearer ${person.accessToken}` }
      expect((await guest.get('/auth/me', { headers })).status).toBe(200)
      expect((await socket.sendMessage(chat.conversationId, 'وصلت الآن')).event).toBe('ack')
    })
  },
)
