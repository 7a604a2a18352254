import { beforeEach, expect, test } from 'vitest'
import { asCaller, guest, type Person, signUp } from '../support/client.ts'
import { normalizedIdentifier, signUpByPhone } from '../support/codes.ts'
import { publishListing } from '../support/listings.ts'
import { insertOrganisation } from '../support/fixtures.ts'

let sara: Person

beforeEach(async () => {
  sara = await signUp('سارة المطيري')
})

const channels = { push: true, inApp: true, sms: false, email: false }
const defaults = {
  language: 'ar',
  notifications: {
    messages: channels,
    leads: channels,
    favorites: channels,
    listings: channels,
    billing: channels,
    reviews: channels,
    account: channels,
  },
  quietHours: null,
  privacy: { showPhone: true, readReceipts: true, showLastSeen: true, whoMayWrite: 'everyone' },
  marketingConsent: false,
}

const change = (fields: unknown) => sara.patch('/settings', fields)

test('without a choice the defaults hold, and reading them writes nothing', async () => {
  expect(await sara.get('/settings')).toMatchObject({ status: 200, body: defaults })
  expect((await change({})).body).toEqual(defaults)
})

test('a change touches what it names and leaves everything else', async () => {
  await change({ notifications: { leads: { push: false } }, privacy: { readReceipts: false } })
  await change({ notifications: { leads: { sms: true }, account: { inApp: false } } })
  await change({ quietHours: { from: '22:30', to: '07:00' }, marketingConsent: true })
  const { body } = await change({ privacy: { showPhone: false } })
  expect(body).toEqual({
    ...defaults,
    notifications: {
      ...defaults.notifications,
      leads: { ...channels, push: false, sms: true },
      account: { ...channels, inApp: false },
    },
    quietHours: { from: '22:30', to: '07:00' },
    privacy: {
      showPhone: false,
      readReceipts: false,
      showLastSeen: true,
      whoMayWrite: 'everyone',
    },
    marketingConsent: true,
  })
  expect((await sara.get('/settings')).body).toEqual(body)
  expect((await change({ quietHours: null })).body.quietHours).toBe(null)
})

test('the language belongs to the account: one value behind two routes', async () => {
  expect((await change({ language: 'en' })).body.language).toBe('en')
  expect((await sara.get('/auth/me')).body.user.language).toBe('en')
  await sara.patch('/auth/me', { language: 'ar' })
  expect((await sara.get('/settings')).body.language).toBe('ar')
})

test.each([
  [{ theme: 'dark' }, 'theme'],
  [{ language: 'fr' }, 'language'],
  [{ notifications: { gossip: { push: true } } }, 'notifications.gossip'],
  [{ notifications: { leads: { pigeon: true } } }, 'notifications.leads.pigeon'],
  [{ notifications: { leads: { push: 'yes' } } }, 'notifications.leads.push'],
  [{ notifications: [] }, 'notifications'],
  [{ quietHours: { from: '22:00' } }, 'quietHours.to'],
  [{ quietHours: { from: '22:00', to: '22:00' } }, 'quietHours.to'],
  [{ quietHours: { from: '24:00', to: '07:00' } }, 'quietHours.from'],
  [{ quietHours: { from: '7:00', to: '08:00' } }, 'quietHours.from'],
  [{ quietHours: { from: '07:00\n', to: '08:00' } }, 'quietHours.from'],
  [{ quietHours: { from: '07:00', to: '08:00', zone: 'UTC' } }, 'quietHours.zone'],
  [{ privacy: { showPhone: 1 } }, 'privacy.showPhone'],
  [{ privacy: { hidden: true } }, 'privacy.hidden'],
])('%j is refused by name, at the facade and in SQL, and nothing changes', async (fields, path) => {
  const refused = await change({ marketingConsent: true, ...fields })
  expect(refused).toMatchObject({ status: 422, body: { error: { code: 'validation_failed' } } })
  expect(refused.body.error.fields.map((field: { path: string }) => field.path)).toContain(path)

  const problem = await asCaller(
    sara,
    (client) =>
      client.query('select api.update_settings($1)', [JSON.stringify(fields)]).then(
        () => undefined,
        (error) => error,
      ),
  )
  expect(problem).toMatchObject({ code: 'PT422', message: 'validation_failed' })
  expect(JSON.parse(problem.detail).fields.map((field: { path: string }) => field.path))
    .toContain(path)
  expect((await sara.get('/settings')).body).toEqual(defaults)
})

test('concurrent changes all take effect', async () => {
  const categories = Object.keys(defaults.notifications)
  const replies = await Promise.all(
    categories.map((name) => change({ notifications: { [name]: { push: false } } })),
  )
  expect(replies.map(({ status }) => status)).toEqual(categories.map(() => 200))
  const { body } = await sara.get('/settings')
  expect(Object.values(body.notifications)).toEqual(
    categories.map(() => ({ ...channels, push: false })),
  )
})

test('a hidden number is not given to whoever asks for the contact of a listing', async () => {
  const seller = await signUpByPhone()
  const { id } = await publishListing(seller)
  const ask = (kind: string) => sara.post(`/properties/${id}/contact`, { kind })
  expect((await ask('call')).body).toEqual({ phone: normalizedIdentifier(seller.identifier) })

  await seller.patch('/settings', { privacy: { showPhone: false } })
  for (const kind of ['call', 'whatsapp']) {
    expect(await ask(kind)).toMatchObject({
      status: 409,
      body: { error: { code: 'property_state_conflict', allowed: ['chat'] } },
    })
  }
  await seller.patch('/settings', { privacy: { showPhone: true } })
  expect((await ask('whatsapp')).status).toBe(200)
})

test('a guest is asked to sign in', async () => {
  const refused = { status: 401, body: { error: { code: 'token_missing' } } }
  expect(await guest.get('/settings')).toMatchObject(refused)
  expect(await guest.patch('/settings', {})).toMatchObject(refused)
})

test("settings are the account's, whichever identity acts", async () => {
  await change({ marketingConsent: true })
  const company = await insertOrganisation(sara.id)
  await sara.post('/auth/identity/switch', { identityId: company })
  expect((await sara.get('/settings')).body.marketingConsent).toBe(true)
  const other = await signUp()
  expect((await other.get('/settings')).body).toEqual(defaults)
})
