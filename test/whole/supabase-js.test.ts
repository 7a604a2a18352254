// Checks docs/supabase-js.md, which says what apps can and cannot do with supabase-js.
import { type ErrorCode, errors } from '../../functions/_shared/errors/errors.ts'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../client/src/index.ts'
import { signUpAdmin } from '../support/admins.ts'
import { bodyAsSeen, faultsOf } from '../support/answers.ts'
import { joinChannel } from '../support/channels.ts'
import {
  caller,
  database,
  guest,
  newEmail,
  type Person,
  projectUrl,
  publishableKey,
  signIn,
  signUp,
} from '../support/client.ts'
import { openConversation, postMessage } from '../support/conversations.ts'
import { everyOperation } from '../support/openapi.ts'
import { publishListing } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadAvatar, uploadPictures } from '../support/uploads.ts'
import { waitUntil } from '../support/wait.ts'

// deno-lint-ignore no-explicit-any
type Client = SupabaseClient<any, any, any>

let person: Person
let listing: string
/** One client stores its session itself, one is given access tokens, and one has no token. */
let keeping: Client
let given: Client
let nobody: Client

const options = { db: { schema: 'api' }, auth: { persistSession: false } } as const

beforeAll(async () => {
  person = await signUp()
  listing = (await publishListing(person)).id
  nobody = createClient(projectUrl, publishableKey, options)
  keeping = createClient(projectUrl, publishableKey, options)
  given = createClient(projectUrl, publishableKey, {
    db: { schema: 'api' },
    accessToken: () => Promise.resolve(person.accessToken),
  })
  const { accessToken: access_token, refreshToken: refresh_token } = await signIn(
    person.identifier,
    person.password,
  )
  expect((await keeping.auth.setSession({ access_token, refresh_token })).error).toBeNull()
})

afterAll(async () => {
  for (const client of [keeping, given, nobody]) await client.realtime.disconnect()
})

describe('a session of the facade', () => {
  test('is kept and renewed by supabase-js, and ends with its sign-out at the facade too', async () => {
    const one = await signUp()
    const other = await signIn(one.identifier, one.password)
    const own = createClient(projectUrl, publishableKey, options)
    const seen: string[] = []
    own.auth.onAuthStateChange((event) => void seen.push(event))
    await own.auth.setSession({ access_token: one.accessToken, refresh_token: one.refreshToken })
    expect((await own.auth.getUser()).data.user?.id).toBe(one.id)
    const { data: { session } } = await own.auth.refreshSession()
    expect(session!.access_token).not.toBe(one.accessToken)
    const renewed = caller(session!.access_token)
    expect((await renewed.get('/auth/me')).status).toBe(200)
    expect((await own.auth.signOut({ scope: 'local' })).error).toBeNull()
    expect((await renewed.get('/auth/me')).status).toBe(401)
    expect((await other.get('/auth/me')).status).toBe(200)
    expect(seen).toEqual(expect.arrayContaining(['SIGNED_IN', 'TOKEN_REFRESHED', 'SIGNED_OUT']))

    const { accessToken: access_token, refreshToken: refresh_token } = other
    await own.auth.setSession({ access_token, refresh_token })
    const third = await signIn(one.identifier, one.password)
    await own.auth.signOut()
    expect((await third.get('/auth/me')).status).toBe(401)
  })

  test('that the app keeps gives access tokens, and then there is no supabase.auth', async () => {
    expect((await given.rpc('check_session')).data).toBe(person.id)
    expect(() => given.auth.getUser()).toThrow()
  })

  test('is made nowhere else: Auth refuses to sign up, in, and to send anything', async () => {
    const { identifier: email, password } = person
    const refused = await Promise.all([
      nobody.auth.signUp({ email: newEmail(), password }),
      nobody.auth.signInWithPassword({ email, password }),
      nobody.auth.signInWithOtp({ email }),
      nobody.auth.resetPasswordForEmail(email),
    ])
    expect(refused.map(({ error }) => error?.code)).toEqual(Array(4).fill('captcha_failed'))
    const idToken = await nobody.auth.signInWithIdToken({ provider: 'google', token: 'a.b.c' })
    expect(idToken.error).not.toBeNull()
    for (const change of [{ password: 'Diwaniya-2027' }, { email: newEmail() }]) {
      expect((await keeping.auth.updateUser(change)).error).not.toBeNull()
    }
    expect(await signIn(email, password)).toMatchObject({ id: person.id })
  })
})

describe('functions', () => {
  const answers = async (path: string, data: unknown) =>
    expect(bodyAsSeen('GET', path, { status: 200, body: data }))
      .toEqual((await person.get(path)).body)

  test('answer the caller as the facade does: a table by single(), else a value', async () => {
    for (const client of [keeping, given]) {
      const { data: me } = await client.rpc('get_me').single()
      await answers('/auth/me', me)
      const { data: mine } = await client.schema('api').rpc('list_my_properties', { page_size: 1 })
        .single()
      await answers('/properties/mine?limit=1', mine)
      const { data: shown } = await client.rpc('get_property', { property_id: listing })
      await answers(`/properties/${listing}`, shown)
    }
    const { data: saved } = await keeping.rpc('toggle_favorite', { property_id: listing }).single()
    expect(saved).toEqual({ propertyId: listing, isFavorite: true })
    await answers('/favorites', (await keeping.rpc('list_favorites')).data)
  })

  test('need schema api, and all but a few a token', async () => {
    const plain: Client = createClient(projectUrl, publishableKey, { auth: options.auth })
    await answers('/meta/areas', (await plain.schema('api').rpc('list_areas')).data)
    expect((await nobody.rpc('get_me')).error).toMatchObject({ code: '42501' })
  })

  test('say what is wrong by the stable codes', async () => {
    const missing = await keeping.rpc('toggle_favorite', { property_id: crypto.randomUUID() })
    expect(missing).toMatchObject({
      status: 404,
      error: { code: 'PT404', message: 'property_not_found' },
    })
    const { error } = await keeping.rpc('update_me', { fields: { fullName: '' } })
    expect(error).toMatchObject({ code: 'PT422', message: 'validation_failed' })
    expect(JSON.parse(error!.details))
      .toEqual({ fields: [{ path: 'fullName', code: 'too_short', min: 2 }] })
  })

  test('answer as `Database` of the client says', async () => {
    const admin = await signUpAdmin()
    const typed = createClient<Database>(projectUrl, publishableKey, {
      db: { schema: 'api' },
      accessToken: () => Promise.resolve(admin.accessToken),
    })
    const { data: me } = await typed.rpc('get_me').single()
    expect(me?.user.id).toBe(admin.id)
    const { data: mine } = await typed.rpc('list_my_properties', { page_cursor: null }).single()
    expect(mine).toEqual({ items: [], nextCursor: null })
    // @ts-expect-error no function of this name
    await typed.rpc('search')
    // @ts-expect-error the argument is a text
    await typed.rpc('toggle_favorite', { property_id: 7 })

    // A function without required arguments returns what the operation of the same name does.
    type Name = keyof Database['api']['Functions']
    const { rows } = await database().query<{ name: Name; isTable: boolean }>(
      `select proname as name, proretset as "isTable" from pg_proc
       where pronamespace = 'api'::regnamespace and pronargs = pronargdefaults`,
    )
    const seen: string[] = []
    for (const { name, isTable } of rows) {
      const operation = everyOperation.find(({ id }) => id === name)
      if (operation?.method !== 'GET' || operation.path.includes('{')) continue
      const asked = typed.rpc(name)
      const { data: body, error } = isTable ? await asked.single() : await asked
      const reply = await admin.get(operation.path)
      if (error) expect(reply.body.error.code, name).toBe(error.message)
      else {
        const seen = bodyAsSeen('GET', operation.path, { status: reply.status, body })
        expect(faultsOf('GET', operation.path, { ...reply, body: seen }), name).toEqual([])
      }
      seen.push(name)
    }
    expect(seen).toEqual(expect.arrayContaining(['get_wallet', 'list_areas', 'list_plans']))
  })

  test('go on with the cursor of the page before', async () => {
    const ids = await Promise.all([publishListing(person), publishListing(person)])
    const found: string[] = []
    let page_cursor: string | null = null
    do {
      const { data }: { data: { items: { id: string }[]; nextCursor: string | null } | null } =
        await keeping.rpc('list_my_properties', { page_size: 1, page_cursor }).single()
      found.push(...data!.items.map(({ id }) => id))
      page_cursor = data!.nextCursor
    } while (page_cursor)
    expect(found.toSorted()).toEqual([listing, ...ids.map(({ id }) => id)].toSorted())
  })

  test('are all there is: no table, no search, nothing that cannot be taken back', async () => {
    for (const client of [keeping, nobody]) {
      expect((await client.from('properties').select()).error).toMatchObject({ code: 'PGRST205' })
      expect((await client.schema('public').from('properties').select()).error)
        .toMatchObject({ code: 'PGRST106' })
      const closed = ['search', 'list_feed', 'list_map_areas', 'contact_property', 'export_account']
      for (const name of closed) {
        expect((await client.rpc(name)).error, name).toMatchObject({ code: 'PGRST202' })
      }
    }
  })

  test('of the facade are called by functions.invoke, with the token of the session', async () => {
    const { data: found } = await nobody.functions.invoke('api/search?limit=1', { method: 'GET' })
    expect(found.items).toHaveLength(1)
    const { data: me } = await keeping.functions.invoke('api/auth/me', { method: 'GET' })
    expect(me.user.id).toBe(person.id)
  })
})

// The order matters, because a client that has left its last channel closes its connection a moment later.
describe('Realtime', { shuffle: false }, () => {
  test(
    'brings messages on the private channel of the account, whoever keeps the session',
    async () => {
      const other = await signUp()
      const { id } = await openConversation(other, { identityId: person.identityId })
      const channels = []
      for (const client of [keeping, given]) {
        const { data: me } = await client.rpc('get_me').single<{ realtimeTopic: string }>()
        await client.realtime.setAuth()
        channels.push(await joinChannel(client, me!.realtimeTopic))
      }
      expect(channels.map(({ status }) => status)).toEqual(['SUBSCRIBED', 'SUBSCRIBED'])
      const sent = await postMessage(other, id)
      expect(sent.status).toBe(201)
      for (const channel of channels) {
        const [heard] = await channel.waitFor('new_message')
        expect(heard.message).toEqual(sent.body)
      }
      const { data } = await keeping.rpc('list_messages', { conversation_id: id, after_seq: 0 })
        .single<{ items: unknown[] }>()
      expect(data!.items).toMatchObject([{ id: sent.body.id }])
    },
  )

  test('lets nobody in without a token, nor into a channel that is not private', async () => {
    const { body: { realtimeTopic } } = await person.get('/auth/me')
    const refused = await Promise.all([
      joinChannel(nobody, realtimeTopic),
      joinChannel(keeping, 'public-room', { private: false }),
    ])
    expect(refused.map(({ status }) => status)).toEqual(['CHANNEL_ERROR', 'CHANNEL_ERROR'])
  })

  test('closes a channel at the sixth call of presence in 30 s', async () => {
    const { id } = await openConversation(await signUp(), { identityId: person.identityId })
    const { body: { liveTopic } } = await person.get(`/conversations/${id}`)
    await keeping.realtime.setAuth()
    const statuses: string[] = []
    const channel = keeping.channel(liveTopic, { config: { private: true } })
      .subscribe((status) => statuses.push(status))
    await waitUntil('it is joined', () => statuses.includes('SUBSCRIBED'))
    for (const at of [1, 2, 3]) expect(await channel.track({ at })).toBe('ok')
    expect(await channel.untrack()).toBe('ok')
    expect(await channel.track({ at: 5 })).toBe('ok')
    expect(statuses).toEqual(['SUBSCRIBED'])
    void channel.untrack()
    await waitUntil('it is closed', () => statuses.at(-1) === 'CLOSED')
  })

  test('publishes no table', async () => {
    const { rows } = await database().query(
      `select from pg_publication_tables
       where pubname = 'supabase_realtime' and schemaname in ('public', 'private', 'api')`,
    )
    expect(rows).toEqual([])
  })
})

test('files are downloaded by whoever asks, and stored and removed by the facade alone', async () => {
  const picture = jpeg({ width: 40, height: 30 })
  const { body: { files: [{ url, mediaId }] } } = await uploadPictures(person, [picture], {
    propertyId: listing,
  })
  const path = url.split('/object/public/listings/')[1]
  expect(nobody.storage.from('listings').getPublicUrl(path).data.publicUrl).toBe(url)
  for (const client of [nobody, keeping]) {
    const bucket = client.storage.from('listings')
    expect((await bucket.download(path)).data?.size).toBeGreaterThan(0)
    const file = new Blob([new Uint8Array(picture)], { type: 'image/jpeg' })
    const sent = await bucket.upload(`${person.identityId}/own.jpg`, file)
    expect(sent.error?.message).toContain('row-level security')
    expect((await bucket.list(person.identityId)).data).toEqual([])
    expect((await bucket.remove([path])).data).toEqual([])
  }
  const { body: avatar } = await uploadAvatar(person, picture)
  const avatarPath = avatar.url.split('/object/public/avatars/')[1]
  expect((await nobody.storage.from('avatars').download(avatarPath)).data?.size).toBeGreaterThan(0)
  const picturesOf = async () => (await guest.get(`/properties/${listing}`)).body.media
  expect(await picturesOf()).toHaveLength(1)
  const { error } = await keeping.rpc('delete_property_media', {
    property_id: listing,
    media_id: mediaId,
  })
  expect(error).toBeNull()
  expect(await picturesOf()).toEqual([])
})

/** Codes about tokens, accounts, identities and administrators, which functions' comments do not repeat. */
const saidElsewhere = [
  'token_missing',
  'account_suspended',
  'account_banned',
  'identity_changed',
  'identity_not_usable',
  'identity_type_required',
  'admin_only',
  'proof_required',
  'passkey_required',
]
/** Only the facade returns these codes: it copies a picture that is sent again; the Data API refuses it. */
const ofFacade = ['send_message quota_exceeded', 'send_message uploads_full']

test('the comment of a function says what its caller may be refused, beside what is wrong with the input', async () => {
  const { rows } = await database().query<{ name: string; comment: string }>(
    `select proname as name, coalesce(obj_description(oid), '') as comment from pg_proc
     where pronamespace = 'api'::regnamespace
       and has_function_privilege('authenticated', oid, 'execute')`,
  )
  const comments = new Map(rows.map(({ name, comment }) => [name, comment]))
  // "as api.other" includes that function's codes.
  const saidOf = (name: string): string =>
    [...comments.get(name)!.matchAll(/as api\.(\w+)/g)]
      .reduce((said, [, other]) => said + saidOf(other!), comments.get(name)!)
  const unsaid = everyOperation.filter(({ id }) => comments.has(id)).flatMap(({ id, codes }) =>
    codes.filter((code) =>
      [402, 403, 404, 409].includes(errors[code as ErrorCode][0]) &&
      !saidElsewhere.includes(code) &&
      !saidOf(id).includes(code)
    ).map((code) => `${id} ${code}`)
  )
  expect(unsaid).toEqual(ofFacade)
})
