import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { auditOf, demote, keepUntold, signUpAdmin } from '../support/admins.ts'
import {
  asCaller,
  caller,
  database,
  newPhone,
  type Person,
  signIn,
  signUp,
} from '../support/client.ts'
import { notificationsOf } from '../support/notifications.ts'
import {
  addPasskey,
  browser,
  byPassword,
  type Lie,
  type Made,
  Passkey,
  proveBy,
} from '../support/passkeys.ts'
import { fieldRefusal, refusal, unknownId } from '../support/problems.ts'
import { waitUntil } from '../support/wait.ts'
import { act, why } from './studio.ts'

const reason = 'تم التحقق من الهوية'
const noProof = refusal(403, 'proof_required')
const noPasskey = refusal(403, 'passkey_required')
const wrong = refusal(401, 'invalid_credentials')
const notTaken = fieldRefusal(422, 'validation_failed', 'attestation')

/**
 * Asks to delete a user who does not exist, which requires a proof. With a valid proof the response is a 404.
 */
const proves = (admin: Person, proof?: string) =>
  browser(admin, proof).delete(`/admin/users/${unknownId}`, { reason })
const proven = refusal(404, 'user_not_found')

async function adminWith(passkey: Passkey, fullName?: string): Promise<Person> {
  const admin = await signUpAdmin(fullName)
  expect((await addPasskey(admin, passkey, await byPassword(admin))).status).toBe(201)
  await keepUntold(admin)
  return admin
}

const proofBy = async (admin: Person, passkey: Passkey): Promise<string> => {
  const { status, body } = await proveBy(admin, passkey)
  expect([status, body]).toEqual([200, { proof: expect.any(String), expiresIn: 600 }])
  return body.proof
}

const rowsOf = async ({ id }: Pick<Person, 'id'>) =>
  (await database().query('select * from private.passkeys where account_id = $1', [id])).rows

describe('ADM-30 passkeys of an administrator', { shuffle: false }, () => {
  const [first, second] = [new Passkey(), new Passkey({ isSynced: true })]
  let admin: Person
  let earlier: string

  beforeAll(async () => {
    admin = await signUpAdmin('مديرة المكتب')
    earlier = await byPassword(admin)
  })

  test('to add one needs a proof, by a password at first', async () => {
    for (const proof of [undefined, randomUUID()]) {
      const by = browser(admin, proof)
      const attestation = first.create({ challenge: 'AAAA', rpId: 'localhost' })
      expect(await by.post('/auth/passkeys/options')).toMatchObject(noProof)
      expect(await by.post('/auth/passkeys', { attestation })).toMatchObject(noProof)
      expect(await by.delete(`/auth/passkeys/${unknownId}`)).toMatchObject(noProof)
    }
    const { status, body } = await browser(admin, earlier).post('/auth/passkeys/options')
    expect([status, body]).toEqual([200, {
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rp: { id: 'localhost', name: 'localhost' },
      user: {
        id: Buffer.from(admin.id.replaceAll('-', ''), 'hex').toString('base64url'),
        name: admin.identifier,
        displayName: 'مديرة المكتب',
      },
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }, { type: 'public-key', alg: -257 }],
      timeout: 300_000,
      attestation: 'none',
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      excludeCredentials: [],
    }])
    const added = await browser(admin, earlier).post('/auth/passkeys', {
      attestation: first.create(body),
      name: '  هاتفي ',
    })
    expect([added.status, added.body]).toEqual([201, {
      id: expect.any(String),
      name: 'هاتفي',
      rpId: 'localhost',
      createdAt: expect.any(String),
      lastUsedAt: null,
    }])
    expect((await browser(admin).get('/auth/passkeys')).body)
      .toEqual({ items: [added.body], nextCursor: null })
  })

  test('from then on nothing else proves, and no password is looked at', async () => {
    const by = browser(admin)
    for (const currentPassword of [admin.password, randomUUID()]) {
      expect(await by.post('/auth/sudo', { currentPassword })).toMatchObject(noPasskey)
    }
    expect(await by.post('/auth/sudo', { code: '000000' })).toMatchObject(noPasskey)
    expect(await by.post('/auth/sudo', {})).toMatchObject(noPasskey)
    expect(await by.post('/auth/otp/resend', { identifier: admin.identifier, purpose: 'sudo' }))
      .toMatchObject(noPasskey)
    // This bypasses the facade's first check, as if the passkey had been added right after it.
    const { session_id: session } = JSON.parse(
      Buffer.from(admin.accessToken.split('.')[1]!, 'base64url').toString(),
    )
    await expect(
      database().query(
        `select private.save_proof($1, $2, 'password', 'aa', true)`,
        [admin.id, session],
      ),
    ).rejects.toMatchObject({ message: 'passkey_required' })
  })

  test('nor does a proof by a password from before, for any act', async () => {
    const by = browser(admin, earlier)
    const user = `/admin/users/${unknownId}`
    const attestation = second.create({ challenge: 'AAAA', rpId: 'localhost' })
    const decision = { decision: 'written_off', reason }
    for (
      const answer of [
        by.delete(user, { reason }),
        by.patch(`${user}/status`, { status: 'banned', reason }),
        by.patch(`${user}/identifier`, { phone: newPhone(), reason }),
        by.post(`${user}/payout`, { reason }),
        by.post(`/admin/moderation/${unknownId}/decide`, decision),
        by.post(`/admin/invoices/${unknownId}/refund`, { to: 'source', reason }),
        ...['users', 'moderation', 'audit'].map((list) =>
          by.get(`/admin/${list}`, { headers: { accept: 'text/csv' } })
        ),
        by.patch(`/admin/plans/${unknownId}`, { version: 1 }),
        by.patch('/admin/settings', { name: 'maintenance', version: 1, value: 'null' }),
        by.post('/auth/passkeys/options'),
        by.post('/auth/passkeys', { attestation }),
        by.delete(`/auth/passkeys/${(await rowsOf(admin))[0].id}`),
      ]
    ) expect(await answer).toMatchObject(noPasskey)
    expect(await rowsOf(admin)).toHaveLength(1)
  })

  test('the passkey proves, in this session alone', async () => {
    const { status, body } = await browser(admin).post('/auth/sudo/options')
    expect([status, body]).toEqual([200, {
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rpId: 'localhost',
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [
        { type: 'public-key', id: first.id, transports: ['internal', 'hybrid'] },
      ],
    }])
    const answer = await browser(admin).post('/auth/sudo', { assertion: first.get(body) })
    expect(answer.status).toBe(200)
    expect(await proves(admin, answer.body.proof)).toMatchObject(proven)
    const elsewhere = await signIn(admin.identifier, admin.password)
    expect(await proves(elsewhere, answer.body.proof)).toMatchObject(noProof)
    const [{ lastUsedAt }] = (await browser(admin).get('/auth/passkeys')).body.items
    expect(lastUsedAt).toEqual(expect.any(String))
  })

  test('with its proof another is added and the first removed', async () => {
    const proof = await proofBy(admin, first)
    const { body: options } = await browser(admin, proof).post('/auth/passkeys/options')
    expect(options.excludeCredentials.map(({ id }: { id: string }) => id)).toEqual([first.id])
    expect((await addPasskey(admin, second, proof)).status).toBe(201)
    const [one] = (await browser(admin).get('/auth/passkeys')).body.items
    const removed = `/auth/passkeys/${one.id}`
    expect((await browser(admin, proof).delete(removed)).status).toBe(204)
    expect(await browser(admin, proof).delete(removed)).toMatchObject(refusal(404, 'not_found'))
    expect(await proveBy(admin, first)).toMatchObject(wrong)
    expect(await proves(admin, await proofBy(admin, second))).toMatchObject(proven)
  })

  test('one that is removed ends what was proven in other sessions', async () => {
    const elsewhere = await signIn(admin.identifier, admin.password)
    const another = new Passkey()
    const proof = await proofBy(admin, second)
    await addPasskey(admin, another, proof)
    const theirs = await proofBy(elsewhere, another)
    expect(await proves(elsewhere, theirs)).toMatchObject(proven)
    const { id } = (await rowsOf(admin)).find((row) => row.credential_id === another.id)
    expect((await browser(admin, proof).delete(`/auth/passkeys/${id}`)).status).toBe(204)
    expect(await proves(elsewhere, theirs)).toMatchObject(noProof)
    expect(await proves(admin, proof)).toMatchObject(proven)
  })

  test('without any the password proves again, and there is nothing to ask a browser for', async () => {
    const proof = await proofBy(admin, second)
    const [{ id }] = await rowsOf(admin)
    expect((await browser(admin, proof).delete(`/auth/passkeys/${id}`)).status).toBe(204)
    expect(await browser(admin).post('/auth/sudo/options')).toMatchObject(refusal(404, 'not_found'))
    expect(await proves(admin, await byPassword(admin))).toMatchObject(proven)
  })

  test('all of it is in the audit trail, and every administrator is told', async () => {
    const reader = await signUpAdmin()
    const actions = (await auditOf(reader, admin.id)).map((
      { action, actor },
    ) => [action, actor?.id])
    expect(actions.filter(([action]) => action.startsWith('passkey.')).toReversed()).toEqual(
      ['added', 'added', 'removed', 'added', 'removed', 'removed'].map((
        what,
      ) => [`passkey.${what}`, admin.id]),
    )
    const passkey = new Passkey()
    await addPasskey(admin, passkey, await byPassword(admin))
    const hears = (what: string) =>
      waitUntil(`"${what}"`, async () =>
        (await notificationsOf(reader, 'admin_event'))
          .some(({ bodyEn }) => bodyEn.startsWith(`مديرة المكتب ${what}`)))
    await hears('added a passkey')
    const proof = await proofBy(admin, passkey)
    await browser(admin, proof).delete(`/auth/passkeys/${(await rowsOf(admin))[0].id}`)
    await hears('has fewer passkeys')
  })
})

describe('ADM-31 what a passkey has signed', () => {
  const passkey = new Passkey()
  const other = new Passkey()
  let admin: Person

  beforeAll(async () => {
    admin = await adminWith(passkey)
    await adminWith(other)
  })

  const lies: [string, Lie][] = [
    ['for another challenge', { challenge: 'A'.repeat(43) }],
    ['on a copied page', { origin: 'https://localhost.example' }],
    ['on a page of another port', { origin: 'http://localhost:5198' }],
    ['on a page without TLS in place of one with', { origin: 'https://localhost:5199' }],
    ['in an app of Android', { origin: 'android:apk-key-hash:A0JAQL4fGUlHqTjFQ8qhx2W1mTUk' }],
    ['in a frame of another page', { clientData: { crossOrigin: true } }],
    [
      'in a frame of a page that the browser names',
      { clientData: { crossOrigin: true, topOrigin: 'https://evil.example' } },
    ],
    ['for another host', { rpId: 'evil.example' }],
    ['for the host with its port', { rpId: 'localhost:5199' }],
    ['without looking who it is', { flags: 0x01 }],
    ['without anybody there', { flags: 0x04 }],
  ]

  test.each([
    ...lies,
    ['to add a passkey', { type: 'webauthn.create' }],
    ['with a counter that has not grown', { counter: 1 }],
    ['with a counter of 0 after it has counted', { counter: 0 }],
    ['by a key of another', { signedBy: other }],
    ['by a key that another administrator has', { signedBy: other, id: other.id }],
    ['by a key that nobody has', { id: 'AAAA' }],
  ] as [string, Lie][])('%s does not prove', async (_, lie) => {
    const before = await rowsOf(admin)
    expect(await proveBy(admin, passkey, lie)).toMatchObject(wrong)
    expect(await rowsOf(admin)).toEqual(before)
  })

  test.each([
    ...lies,
    ['to prove', { type: 'webauthn.get' }],
    ['with its maker’s word in a format that nobody asked for', { format: 'android-key' }],
  ] as [string, Lie][])('%s is not added', async (_, lie) => {
    const proof = await proofBy(admin, passkey)
    expect(await addPasskey(admin, new Passkey(), proof, { lie })).toMatchObject(notTaken)
    expect(await rowsOf(admin)).toHaveLength(1)
  })

  test('by another algorithm is not added', async () => {
    const proof = await proofBy(admin, passkey)
    expect(await addPasskey(admin, new Passkey({ alg: 'EdDSA' }), proof)).toMatchObject(notTaken)
  })

  test('by a passkey that somebody has already is not added', async () => {
    const proof = await proofBy(admin, passkey)
    for (const one of [passkey, other]) {
      expect(await addPasskey(admin, one, proof)).toMatchObject(notTaken)
    }
  })

  test('is no key at all', async () => {
    const by = browser(admin, await proofBy(admin, passkey))
    for (const attestationObject of ['AAAA', 'oA', '9w', 'v2NmbXRkbm9uZQ']) {
      const { body } = await by.post('/auth/passkeys/options')
      const whole = new Passkey().create(body)
      const attestation = { ...whole, response: { ...whole.response, attestationObject } }
      expect(await by.post('/auth/passkeys', { attestation })).toMatchObject(notTaken)
    }
    for (const part of ['authenticatorData', 'clientDataJSON', 'signature']) {
      const { body } = await by.post('/auth/sudo/options')
      const whole = passkey.get(body)
      const assertion = { ...whole, response: { ...whole.response, [part]: 'AAAA' } }
      expect(await by.post('/auth/sudo', { assertion }), part).toMatchObject(wrong)
    }
  })

  test('counts once, and a failure uses it up as well', async () => {
    const by = browser(admin)
    const { body } = await by.post('/auth/sudo/options')
    const assertion = passkey.get(body)
    expect((await by.post('/auth/sudo', { assertion })).status).toBe(200)
    expect(await by.post('/auth/sudo', { assertion })).toMatchObject(wrong)
    expect(await by.post('/auth/sudo', { assertion: passkey.get(body) })).toMatchObject(wrong)
    const { body: next } = await by.post('/auth/sudo/options')
    expect(await by.post('/auth/sudo', { assertion: passkey.get(body) })).toMatchObject(wrong)
    expect(await by.post('/auth/sudo', { assertion: passkey.get(next) })).toMatchObject(wrong)
  })

  test('counts for five minutes, in its session, for what it was asked for', async () => {
    const by = browser(admin)
    const { body: old } = await by.post('/auth/sudo/options')
    await database().query(
      `update private.passkey_challenges set made_at = made_at - interval '5 minutes'
       where challenge = $1`,
      [old.challenge],
    )
    expect(await by.post('/auth/sudo', { assertion: passkey.get(old) })).toMatchObject(wrong)
    const { body: here } = await by.post('/auth/sudo/options')
    const elsewhere = browser(await signIn(admin.identifier, admin.password))
    await elsewhere.post('/auth/sudo/options')
    expect(await elsewhere.post('/auth/sudo', { assertion: passkey.get(here) })).toMatchObject(
      wrong,
    )
    const { body: { challenge } } = await browser(admin, await proofBy(admin, passkey))
      .post('/auth/passkeys/options')
    const { body: proving } = await by.post('/auth/sudo/options')
    const assertion = passkey.get({ ...proving, challenge })
    expect(await by.post('/auth/sudo', { assertion })).toMatchObject(wrong)
  })

  test('of two at once with one challenge, one counts; of two challenges in order, the higher count', async () => {
    const by = browser(admin)
    const { body } = await by.post('/auth/sudo/options')
    const [one, next] = [passkey.get(body), passkey.get(body)]
    const answers = await Promise.all(
      [one, next, one, next].map((assertion) => by.post('/auth/sudo', { assertion })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401])
    // The passkey signs for two sessions, and the later signature is sent first.
    const elsewhere = browser(await signIn(admin.identifier, admin.password))
    const [mine, theirs] = await Promise.all(
      [by, elsewhere].map(async (each) => (await each.post('/auth/sudo/options')).body),
    )
    const [earlier, later] = [passkey.get(mine), passkey.get(theirs)]
    expect((await elsewhere.post('/auth/sudo', { assertion: later })).status).toBe(200)
    expect(await by.post('/auth/sudo', { assertion: earlier })).toMatchObject(wrong)
  })

  test('its challenges go with the session', async () => {
    const person = await signIn(admin.identifier, admin.password)
    const { body: { challenge } } = await browser(person).post('/auth/sudo/options')
    const left = async () =>
      (await database().query('select from private.passkey_challenges where challenge = $1', [
        challenge,
      ])).rowCount
    expect(await left()).toBe(1)
    await person.post('/auth/logout')
    expect(await left()).toBe(0)
  })
})

describe('ADM-31 what people have been refused elsewhere', () => {
  test('a synced passkey, whose counter stays 0', async () => {
    const passkey = new Passkey({ isSynced: true })
    const admin = await adminWith(passkey)
    for (let i = 0; i < 3; i++) {
      expect(await proves(admin, await proofBy(admin, passkey))).toMatchObject(proven)
    }
  })

  test('one of Windows Hello, by RSA', async () => {
    const passkey = new Passkey({ alg: 'RS256' })
    const admin = await adminWith(passkey)
    expect(await proves(admin, await proofBy(admin, passkey))).toMatchObject(proven)
  })

  test('bytes with padding, or in standard base64', async () => {
    const admin = await signUpAdmin()
    const passkey = new Passkey()
    const standard = (text: string) => Buffer.from(text, 'base64url').toString('base64')
    const padded = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, '=')
    const by = browser(admin, await byPassword(admin))
    const { body } = await by.post('/auth/passkeys/options')
    const made = passkey.create(body)
    const { clientDataJSON, attestationObject } = made.response
    const attestation = {
      ...made,
      id: standard(made.id),
      response: {
        ...made.response,
        clientDataJSON: padded(clientDataJSON),
        attestationObject: standard(attestationObject),
      },
    }
    expect((await by.post('/auth/passkeys', { attestation })).status).toBe(201)
    const { body: options } = await by.post('/auth/sudo/options')
    expect(options.allowCredentials[0].id).toBe(passkey.id)
    const { id, response, ...rest } = passkey.get(options)
    const bytes = Object.entries(response).map(([name, text]) => [name, standard(text)])
    const assertion = { ...rest, id: padded(id), response: Object.fromEntries(bytes) }
    expect((await by.post('/auth/sudo', { assertion })).status).toBe(200)
  })

  test('fields that a browser adds, and ways to reach it that are new', async () => {
    const admin = await signUpAdmin()
    const passkey = new Passkey({ transports: ['usb', 'smart-card', 'telepathy'] })
    const by = browser(admin, await byPassword(admin))
    const { body } = await by.post('/auth/passkeys/options')
    const made = passkey.create(body)
    const attestation = { ...made, novelty: 1, response: { ...made.response, novelty: {} } }
    expect((await by.post('/auth/passkeys', { attestation })).status).toBe(201)
    const { body: options } = await by.post('/auth/sudo/options')
    expect(options.allowCredentials[0].transports).toEqual(['usb', 'smart-card', 'telepathy'])
  })

  test('one that is synced, and said to be reached on its first device alone', async () => {
    const reached = async (made: Made) => {
      const admin = await adminWith(new Passkey(made))
      return (await browser(admin).post('/auth/sudo/options')).body.allowCredentials[0].transports
    }
    expect(await reached({ isSynced: true, transports: ['internal'] })).toBe(undefined)
    expect(await reached({ isSynced: true })).toEqual(['internal', 'hybrid'])
    expect(await reached({ transports: ['internal'] })).toEqual(['internal'])
    expect(await reached({ transports: [] })).toBe(undefined)
  })

  test('pages by their host, whatever the port; none by an address or that is not ours', async () => {
    const passkey = new Passkey()
    const admin = await adminWith(passkey)
    const from = (origin: string) => ({ headers: { origin } })
    const by = browser(admin, await proofBy(admin, passkey))
    const port = from('http://localhost:4173')
    const { body } = await by.post('/auth/sudo/options', undefined, port)
    expect(body.rpId).toBe('localhost')
    const assertion = passkey.get(body, { origin: port.headers.origin })
    expect((await by.post('/auth/sudo', { assertion }, port)).status).toBe(200)
    const refused = fieldRefusal(422, 'validation_failed', 'Origin')
    for (
      const origin of ['https://evil.example', 'http://127.0.0.1:5199', 'http://[::1]:5199', 'null']
    ) {
      for (const path of ['/auth/passkeys/options', '/auth/sudo/options']) {
        expect(await by.post(path, undefined, from(origin)), origin).toMatchObject(refused)
      }
    }
    // A request without an Origin header is treated as one from the first page in CORS_ORIGINS.
    const { body: bare } = await caller(admin.accessToken).post('/auth/sudo/options')
    expect(bare.rpId).toBe('localhost')
  })
})

describe('ADM-30 up to five, and whose they are', () => {
  test('of two at once one is the fifth, and there is no sixth', async () => {
    const passkey = new Passkey({ isSynced: true })
    const admin = await adminWith(passkey)
    const proof = await proofBy(admin, passkey)
    for (let i = 0; i < 3; i++) {
      expect((await addPasskey(admin, new Passkey(), proof)).status).toBe(201)
    }
    await keepUntold(admin)
    const elsewhere = await signIn(admin.identifier, admin.password)
    const sides = [[admin, proof], [elsewhere, await proofBy(elsewhere, passkey)]] as const
    const answers = await Promise.all(sides.map(async ([who, proof]) => {
      const by = browser(who, proof)
      const { body } = await by.post('/auth/passkeys/options')
      return { by, attestation: new Passkey().create(body) }
    }))
    const added = await Promise.all(
      answers.map(({ by, attestation }) => by.post('/auth/passkeys', { attestation })),
    )
    expect(added.map(({ status }) => status).toSorted()).toEqual([201, 409])
    const full = { status: 409, body: { error: { code: 'passkeys_full', limit: 5, used: 5 } } }
    expect(added.find(({ status }) => status === 409)).toMatchObject(full)
    expect(await browser(admin, proof).post('/auth/passkeys/options')).toMatchObject(full)
    expect(await rowsOf(admin)).toHaveLength(5)
  })

  test('nobody sees or removes those of others', async () => {
    const [one, two] = [new Passkey(), new Passkey()]
    const [admin, other] = [await adminWith(one), await adminWith(two)]
    const [{ id }] = await rowsOf(other)
    expect((await browser(admin).get('/auth/passkeys')).body.items).toHaveLength(1)
    expect((await browser(admin).post('/auth/sudo/options')).body.allowCredentials)
      .toMatchObject([{ id: one.id }])
    expect(await browser(admin, await proofBy(admin, one)).delete(`/auth/passkeys/${id}`))
      .toMatchObject(refusal(404, 'not_found'))
    expect(await rowsOf(other)).toHaveLength(1)
    for (const table of ['passkeys', 'passkey_challenges']) {
      await expect(asCaller(admin, (client) => client.query(`select from private.${table}`)))
        .rejects.toMatchObject({ code: '42501' })
    }
  })

  test('nobody else has any, and whoever is no administrator any more loses them', async () => {
    const person = await signUp()
    const adminOnly = refusal(403, 'admin_only')
    const by = browser(person)
    const passkey = new Passkey()
    const options = { challenge: 'A'.repeat(43), rpId: 'localhost' }
    expect(await by.get('/auth/passkeys')).toMatchObject(adminOnly)
    expect(await by.post('/auth/passkeys/options')).toMatchObject(adminOnly)
    expect(await by.post('/auth/passkeys', { attestation: passkey.create(options) }))
      .toMatchObject(adminOnly)
    expect(await by.delete(`/auth/passkeys/${unknownId}`)).toMatchObject(adminOnly)
    expect(await by.post('/auth/sudo/options')).toMatchObject(adminOnly)
    expect(await by.post('/auth/sudo', { assertion: passkey.get(options) })).toMatchObject(
      adminOnly,
    )
    const admin = await adminWith(passkey)
    await demote(admin)
    expect(await rowsOf(admin)).toEqual([])
  })

  test('one that is lost goes by a row, with an alarm: the password proves again', async () => {
    const passkey = new Passkey()
    const admin = await adminWith(passkey, 'مشرف أضاع مفتاحه')
    const reader = await signUpAdmin()
    const proof = await proofBy(admin, passkey)
    const row = await act({ act: 'remove_passkeys', target: admin.identifier, reason: why })
    expect(row).toMatchObject({
      state: 'done',
      result: expect.stringMatching(/^Passkeys removed: 1\./),
    })
    expect(await rowsOf(admin)).toEqual([])
    // A proof that was made with the lost passkey is no longer valid, even in a session that is still open.
    expect(await proves(admin, proof)).toMatchObject(noProof)
    expect(await proves(admin, await byPassword(admin))).toMatchObject(proven)
    const alarms = async () =>
      (await database().query(
        `select kind, details from private.alarms where subject_id like $1 || '%'`,
        [admin.id],
      )).rows
    const raised = { kind: 'passkeys_removed', details: { accountId: admin.id, passkeys: 1 } }
    expect(await alarms()).toEqual([raised])
    expect((await auditOf(reader, admin.id))[0]).toMatchObject({
      action: 'passkey.removed',
      actor: null,
      reason: why,
      after: { act: row.id },
    })
    const notices = async () => (await notificationsOf(reader)).map(({ bodyEn }) => String(bodyEn))
    await waitUntil(
      'every administrator is told',
      async () =>
        (await notices()).some((body) => body.startsWith('مشرف أضاع مفتاحه has fewer passkeys')),
    )
    // The administrators get only this notification, none for the alarm.
    expect(await notices()).not.toContain('passkeys_removed')
    // The next removal raises its own alarm, although the first is still open.
    await addPasskey(admin, new Passkey(), await byPassword(admin))
    await database().query(
      `update public.admin_acts set created_at = created_at - interval '10 minutes' where id = $1`,
      [row.id],
    )
    await act({ act: 'remove_passkeys', target: admin.identifier, reason: why })
    expect(await alarms()).toEqual([raised, raised])
    const again = { act: 'remove_passkeys', target: reader.id, reason: why }
    await expect(act(again)).rejects.toThrow('It has no passkeys')
  })
})
