// Auth responds late, with an error or not at all. The database then decides
// whether a change has taken effect.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jsonAnswer, startProjectProxy } from '../base/project-proxy.ts'
import { newEmail, newPhone, type Person, projectUrl, secretKey } from '../support/client.ts'
import { ageCodes, signUpByPhone } from '../support/codes.ts'
import { type Facade, hasStack, startFacade } from '../support/facade.ts'
import { refusal } from '../support/problems.ts'
import { atAuth, beginChange, change, contactOf, isNobodys, verify } from './contact-requests.ts'

describe.runIf(hasStack)('CON-15 when Auth', () => {
  let way: Awaited<ReturnType<typeof startProjectProxy>>
  let facade: Facade
  beforeAll(async () => {
    way = await startProjectProxy()
    facade = await startFacade(way.settings)
  })
  afterAll(async () => {
    await facade?.stop()
    way?.stop()
  })

  const verifyThere = (person: Person, { changeId, code }: { changeId: string; code: string }) =>
    facade.post('/auth/me/email/verify', { changeId, code }, {
      authorization: `Bearer ${person.accessToken}`,
    })
  const tellAuth = ({ id }: Person, email: string) =>
    fetch(`${projectUrl}/auth/v1/admin/users/${id}`, {
      method: 'PUT',
      headers: { apikey: secretKey, 'content-type': 'application/json' },
      body: JSON.stringify({ email, email_confirm: true }),
    })
  const busy = refusal(503, 'service_unavailable')

  async function begun() {
    const person = await signUpByPhone()
    const email = newEmail()
    const path = `/auth/v1/admin/users/${person.id}`
    return { person, email, path, change: await beginChange(person, 'email', email) }
  }

  test.each([
    ['is away', jsonAnswer(503, {})],
    ['fails twice', jsonAnswer(500, { code: 'unexpected_failure' })],
    ['breaks off', (response: { destroy: () => void }) => void response.destroy()],
  ])('%s, nothing is changed, and the same again does it', async (_what, answer) => {
    const { person, email, path, change } = await begun()
    way.answers.set(path, answer)
    expect(await verifyThere(person, change)).toMatchObject(busy)
    expect(await contactOf(person)).toMatchObject({ email: null })
    expect(await isNobodys(email)).toBe(true)
    way.answers.delete(path)
    expect(await verifyThere(person, change)).toMatchObject({
      status: 200,
      body: { user: { email } },
    })
  })

  test('fails once, it is asked once more', async () => {
    const { person, email, path, change } = await begun()
    way.answers.set(path, (response) => {
      way.answers.delete(path)
      response.writeHead(500, { 'content-type': 'application/json' }).end('{}')
    })
    expect(await verifyThere(person, change)).toMatchObject({
      status: 200,
      body: { user: { email } },
    })
  })

  test.each([
    ['commits and answers 500', 500],
    ['commits and answers 504', 504],
  ])('%s, the change is done', async (_what, status) => {
    const { person, email, path, change } = await begun()
    way.answers.set(path, async (response) => {
      await tellAuth(person, email)
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
    expect(await verifyThere(person, change)).toMatchObject({
      status: 200,
      body: { user: { email } },
    })
    way.answers.delete(path)
    expect((await atAuth(person)).identities).toContain(`email ${email}`)
  })

  test('answers when somebody else has it by then, that is said', async () => {
    const { person, email, path, change: mine } = await begun()
    const other = await signUpByPhone()
    way.answers.set(path, async (response) => {
      await ageCodes(email, 45)
      await change(other, 'email', email)
      response.writeHead(504).end()
    })
    const reply = await verifyThere(person, mine)
    way.answers.delete(path)
    expect(reply).toMatchObject(refusal(409, 'email_taken'))
    expect(await verify(person, 'email', mine)).toMatchObject(refusal(409, 'email_taken'))
  })

  test('is told when the person has changed their mind, nothing happens', async () => {
    const { person, path, change } = await begun()
    way.answers.set(path, async (response) => {
      await beginChange(person, 'email', newEmail())
      response.writeHead(504).end()
    })
    expect(await verifyThere(person, change)).toMatchObject(refusal(404, 'change_not_found'))
    way.answers.delete(path)
    expect((await tellAuth(person, 'late@example.com')).status).toBe(409)
    expect(await contactOf(person)).toMatchObject({ email: null })
  })

  test('is told when the account is being deleted, nothing happens', async () => {
    const { person, email, path, change } = await begun()
    way.answers.set(path, async (response) => {
      const { password } = person
      await person.post('/auth/me/delete', { password })
      const { status } = await tellAuth(person, email)
      response.writeHead(status).end()
    })
    expect(await verifyThere(person, change)).toMatchObject(refusal(401, 'token_invalid'))
    way.answers.delete(path)
    expect(await isNobodys(email)).toBe(true)
  })

  test('the phone of a person is told in the same way', async () => {
    const person = await signUpByPhone()
    const phone = newPhone()
    const begun = await beginChange(person, 'phone', phone)
    const path = `/auth/v1/admin/users/${person.id}`
    way.answers.set(path, jsonAnswer(503, {}))
    const headers = { authorization: `Bearer ${person.accessToken}` }
    const { changeId, code } = begun
    const verifyPhone = () => facade.post('/auth/me/phone/verify', { changeId, code }, headers)
    expect(await verifyPhone()).toMatchObject(busy)
    way.answers.delete(path)
    expect(await verifyPhone()).toMatchObject({
      status: 200,
      body: { user: { phone: `+965${phone}` } },
    })
  })
})
