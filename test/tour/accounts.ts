import { randomInt, randomUUID } from 'node:crypto'
import { ask, type Asker, codeFor, inboxUrl, me, must, step } from './guide.ts'

const password = randomUUID()
const phone = `5${randomInt(10_000_000).toString().padStart(7, '0')}`
const email = `tour-${randomUUID()}@example.com`

export type Person = Asker & { token: string; identityId: string }

export async function newPerson(fullName: string): Promise<Person> {
  const identifier = `tour-${randomUUID()}@example.com`
  await ask('POST', '/auth/register', { identifier, password, fullName }, { status: 201 })
  const { body } = await ask('POST', '/auth/login', { identifier, password })
  const { accessToken: token, activeIdentity } = body
  return { token, identityId: activeIdentity.id }
}

export async function accounts() {
  await step('The service is up, and no message leaves it', async () => {
    const { body } = await ask('GET', '/health')
    must(body.database === 'ok' && body.auth === 'ok', 'database and sign-in were to be there')
    must(body.sms !== 'live' && inboxUrl, 'the tour registers invented numbers: it needs INBOX_URL')
  })

  await step('Registers by phone: an account only after the code', async () => {
    const { body } = await ask('POST', '/auth/register', {
      identifier: phone,
      password,
      confirmPassword: password,
      fullName: 'أحمد العنزي',
    }, { status: 201 })
    must(body.status === 'awaiting_otp' && body.registrationId, 'a code was to be awaited')
    await ask('POST', '/auth/login', { identifier: phone, password }, { status: 403 })
    const session = await ask('POST', '/auth/register/verify-otp', {
      identifier: phone,
      code: await codeFor(`+965${phone}`),
      registrationId: body.registrationId,
    })
    must(session.body.user.phone === `+965${phone}`, 'the session was to be that phone’s')
    must(session.body.activeIdentity.type === 'individual', 'an individual was to act')
    await ask('POST', '/auth/register', { identifier: `+965${phone}`, password }, { status: 409 })
  })

  await step('Registers by email and signs in at once', async () => {
    await ask('POST', '/auth/register', { identifier: email, password, fullName: 'نورة الصالح' }, {
      status: 201,
    })
    const { body } = await ask('POST', '/auth/login', { identifier: email, password })
    must(body.identities.length === 1 && body.activeIdentity, 'an identity was to act')
    await ask('GET', '/auth/me', undefined, { status: 401 })
    me.token = body.accessToken
    await ask('GET', '/auth/me')
  })

  await step('Proves the email, so that nobody else can take it away', async () => {
    const { body: { user } } = await ask('GET', '/auth/me')
    must(user.emailProven === false, 'registering was to prove nothing')
    await proveEmail(email)
  })
}

export async function proveEmail(email = `tour-${randomUUID()}@example.com`, as: Asker = me) {
  const { body: { changeId } } = await ask('POST', '/auth/me/email', {
    email,
    currentPassword: password,
  }, { as, status: 202 })
  const code = await codeFor(email)
  const { body } = await ask('POST', '/auth/me/email/verify', { changeId, code }, { as })
  must(body.user.emailProven, 'the email was to be proven')
}

export async function signOut() {
  await step('Signs out: the token is worth nothing any more', async () => {
    await ask('POST', '/auth/logout', {}, { status: 204 })
    await ask('GET', '/auth/me', undefined, { status: 401 })
  })
}
