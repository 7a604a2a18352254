import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { asCaller, database, guest, type Person, signIn, signUp } from '../support/client.ts'
import { race } from '../support/races.ts'
import { registerDevice } from '../support/notifications.ts'

let sara: Person
let fahad: Person

beforeEach(async () => {
  sara = await signUp()
  fahad = await signUp()
})

const list = async (person: Person) => (await person.get('/devices')).body.items
const idsOf = async (person: Person) =>
  (await list(person)).map(({ deviceId }: { deviceId: string }) => deviceId)
const owners = async (pushToken: string) => {
  const { rows } = await database().query(
    'select account_id from public.devices where push_token = $1',
    [pushToken],
  )
  return rows.map((row) => row.account_id)
}

test('a device is registered, changed by its id and removed', async () => {
  const { deviceId, pushToken } = await registerDevice(sara, {
    appVersion: '1.0.3',
    locale: 'ar-KW',
  })
  const [first] = await list(sara)
  expect(first).toEqual({
    deviceId,
    platform: 'ios',
    appVersion: '1.0.3',
    locale: 'ar-KW',
    current: true,
    createdAt: expect.any(String),
    updatedAt: first.createdAt,
  })
  const renewed = `${pushToken}-renewed`
  await registerDevice(sara, { deviceId, platform: 'android', pushToken: renewed })
  const items = await list(sara)
  expect(items).toMatchObject([{ deviceId, platform: 'android', appVersion: null, locale: null }])
  expect(items[0].createdAt).toBe(first.createdAt)
  expect(items[0].updatedAt > first.updatedAt).toBe(true)
  expect(JSON.stringify(items)).not.toContain(renewed) // tokens are not returned
  expect(await owners(pushToken)).toEqual([])

  expect(await sara.delete(`/devices/${deviceId}`)).toMatchObject({ status: 204, body: null })
  expect(await list(sara)).toEqual([])
  expect(await sara.delete(`/devices/${deviceId}`))
    .toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
})

test('one device id of two accounts is two devices, and neither can touch the other', async () => {
  const { deviceId } = await registerDevice(sara)
  const missing = await fahad.delete(`/devices/${deviceId}`)
  expect(missing.status).toBe(404)
  await registerDevice(fahad, { deviceId })
  expect(await fahad.delete(`/devices/${deviceId}`)).toMatchObject({ status: 204 })
  expect(await idsOf(sara)).toEqual([deviceId])
})

test('ISO-16 a push token belongs to whoever registers it last, also with twenty at once', async () => {
  const { pushToken, deviceId } = await registerDevice(sara)
  await registerDevice(fahad, { deviceId, pushToken })
  expect(await owners(pushToken)).toEqual([fahad.id])
  expect(await list(sara)).toEqual([])
  expect((await sara.delete(`/devices/${pushToken}`)).status).toBe(404)
  expect(await owners(pushToken)).toEqual([fahad.id])

  for (let round = 0; round < 3; round++) {
    const replies = await race(Array.from({ length: 20 }, (_, i) => ({
      method: 'PUT',
      path: '/devices',
      body: { deviceId: i % 4 < 2 ? deviceId : randomUUID(), platform: 'web', pushToken },
      headers: [['Authorization', `Bearer ${(i % 2 ? sara : fahad).accessToken}`]],
    })))
    expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(await owners(pushToken)).toHaveLength(1)
  }
})

test('a device ends with its session: signed out, signed out elsewhere, password changed', async () => {
  const phone = await signIn(sara.identifier, sara.password)
  const tablet = await signIn(sara.identifier, sara.password)
  const [onPhone, onTablet, here] = [
    await registerDevice(phone),
    await registerDevice(tablet),
    await registerDevice(sara),
  ]
  expect((await list(phone)).filter(({ current }: { current: boolean }) => current))
    .toMatchObject([{ deviceId: onPhone.deviceId }])

  await phone.post('/auth/logout', {})
  expect(await idsOf(sara)).toEqual([here.deviceId, onTablet.deviceId])
  await sara.post('/auth/password/change', {
    currentPassword: sara.password,
    newPassword: randomUUID(),
  })
  expect(await idsOf(sara)).toEqual([here.deviceId])
  await sara.post('/auth/logout', { scope: 'global' })
  expect(await owners(here.pushToken)).toEqual([])
})

test('a device registered after another sign-in belongs to that session', async () => {
  const given = await registerDevice(sara)
  const later = await signIn(sara.identifier, sara.password)
  await later.put('/devices', given)
  await sara.post('/auth/logout', {})
  expect(await idsOf(later)).toEqual([given.deviceId])
})

test('the twenty-first device replaces the one unseen for longest', async () => {
  const made: string[] = []
  for (let i = 0; i < 20; i++) made.push((await registerDevice(sara)).deviceId)
  await registerDevice(sara, { deviceId: made[0] })
  made.push((await registerDevice(sara)).deviceId)
  expect(new Set(await idsOf(sara))).toEqual(new Set([made[0], ...made.slice(2)]))
})

test.each([
  ['platform', 'device_platform_invalid', { platform: 'windows' }],
  ['platform', 'validation_failed', { platform: null }],
  ['platform', 'validation_failed', { platform: undefined }],
  ['pushToken', 'validation_failed', { pushToken: '' }],
  ['pushToken', 'validation_failed', { pushToken: 'a b' }],
  ['pushToken', 'validation_failed', { pushToken: 'x'.repeat(2049) }],
  ['pushToken', 'validation_failed', { pushToken: undefined }],
  ['deviceId', 'validation_failed', { deviceId: '' }],
  ['deviceId', 'validation_failed', { deviceId: 'x'.repeat(201) }],
  ['deviceId', 'validation_failed', { deviceId: 'a\nb' }],
  ['accountId', 'validation_failed', { accountId: randomUUID() }],
])('a device is refused for its %s: %s', async (path, code, fields) => {
  const whole = { deviceId: 'one', platform: 'ios', pushToken: 'token', ...fields }
  const { status, body } = await sara.put('/devices', whole)
  expect({ status, code: body.error.code }).toEqual({ status: 422, code })
  expect(body.error.fields[0].path).toBe(path)
  const given: Record<string, unknown> = whole
  // The SQL function has no accountId and treats null as missing, so these cases apply only to the route.
  if (path === 'accountId' || Object.values(given).some((value) => value == null)) return
  const error = await asCaller(
    sara,
    (client) =>
      client.query('select api.register_device($1, $2, $3)', [
        ...[given.deviceId, given.platform, given.pushToken],
      ]).then(() => undefined, (error) => error),
  )
  expect(error).toMatchObject({ code: 'PT422', message: code })
})

test.each([
  ['ar', 'ar'],
  ['ar-KW', 'ar-KW'],
  ['ar-Arab-KW-u-ca-islamic-umalqura-nu-latn', 'ar-Arab-KW-u-ca-islamic-umalqura-nu-latn'],
  ['ar_KW', 'ar_KW'],
  ['ar_KW@numbers=latn', 'ar_KW'],
  ['ar_KW@calendar=islamic-umalqura;numbers=latn', 'ar_KW'],
  ['ar_KW.UTF-8', 'ar_KW'],
  ['ar_KW_#u-nu-latn', 'ar_KW'],
  ['ar__#Latn', 'ar'],
  ['../ar', null],
  ['العربية', null],
  ['ar-KW,en;q=0.9', null],
  ['', null],
  [`ar-${'a'.repeat(98)}`, null],
  [null, null],
  [{ language: 'ar' }, null],
])('INP-26 a device with the locale %j is registered with %j', async (locale, stored) => {
  const device = await registerDevice(sara, { locale })
  expect(await list(sara)).toMatchObject([{ deviceId: device.deviceId, locale: stored }])
  if (typeof locale === 'object') return
  const record = await asCaller(sara, async (client) => {
    const { rows } = await client.query(
      'select api.register_device($1, $2, $3, locale => $4) as record',
      [randomUUID(), 'ios', randomUUID(), locale],
    )
    return rows[0].record
  })
  expect(record.locale).toBe(stored)
})

test.each(['', 'x'.repeat(41), '1.0\n', 7])(
  'INP-26 a device with the version %j is registered without one',
  async (appVersion) => {
    await registerDevice(sara, { appVersion })
    expect(await list(sara)).toMatchObject([{ appVersion: null }])
  },
)

test('ISO-06 devices are written by the functions alone', async () => {
  await registerDevice(sara)
  for (
    const sql of [
      'update public.devices set account_id = $1',
      'delete from public.devices where account_id <> $1',
      `insert into public.devices (account_id, device_id, session_id, platform, push_token)
       values ($1, 'x', gen_random_uuid(), 'ios', 'x')`,
    ]
  ) {
    const error = await asCaller(
      sara,
      (client) => client.query(sql, [fahad.id]).then(() => undefined, (error) => error),
    )
    expect(error).toMatchObject({ code: '42501' })
  }
})

test('a deleted account has no devices, and a guest can have none', async () => {
  const { pushToken } = await registerDevice(sara)
  await database().query('select private.anonymise_account($1)', [sara.id])
  expect(await owners(pushToken)).toEqual([])
  for (const reply of [await guest.get('/devices'), await guest.delete('/devices/x')]) {
    expect(reply).toMatchObject({ status: 401, body: { error: { code: 'token_missing' } } })
  }
})
