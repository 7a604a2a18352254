// Auth writes its own audit log only if a project enables it. Entries about a deleted
// person are removed from it.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Auth, openAuth } from '../../local/auth/server.ts'
import { variable } from '../../local/config/environment.ts'
import { openKeys } from '../../local/config/signing-keys.ts'
import { readStack } from '../../local/config/stack.ts'
import { database, newEmail, projectUrl, signIn, signUp } from '../support/client.ts'
import { hasStack } from '../support/facade.ts'
import { runJobs } from '../support/jobs.ts'

async function logOf(id: string) {
  const { rows } = await database().query(
    `select payload from auth.audit_log_entries
     where payload ->> 'actor_id' = $1 or payload #>> '{traits,user_id}' = $1
     order by created_at`,
    [id],
  )
  return rows.map(({ payload }) => payload)
}

test('signing up, signing in and other actions appear in no log of Auth', async () => {
  const { identifier, password, id } = await signUp()
  const person = await signIn(identifier, password)
  await person.post('/auth/refresh', { refreshToken: person.refreshToken })
  await person.post('/auth/logout', { scope: 'global' })
  expect(await logOf(id)).toEqual([])
})

// Auth logs to the database until a deployment of the project turns this off.
describe.runIf(hasStack)('where Auth keeps its log in the database', () => {
  let auth: Auth

  beforeAll(() => {
    const stack = readStack({
      ...process.env,
      PORT: new URL(projectUrl).port,
      LOCAL_DATA: variable('LOCAL_STACK'),
      NODE_ENV: 'test',
    })
    auth = openAuth({
      databaseUrl: stack.databaseUrl('supabase_auth_admin'),
      keys: openKeys(stack.dataDir, stack.issuer),
      config: stack.config.auth,
      issuer: stack.issuer,
      rates: false,
      hashCost: 4,
      auditLog: true,
    })
  })

  afterAll(() => auth.close())

  async function ask(method: string, path: string, body: unknown = {}, bearer?: string) {
    const url = new URL(path, 'http://auth')
    const { status, body: said } = await auth.handle({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: {},
      body: Buffer.from(JSON.stringify(body)),
      ip: '127.0.0.1',
      keyRole: 'service_role',
      bearer,
      bearerIsKey: false,
    })
    expect(status, path).toBeLessThan(300)
    return said as Record<string, string>
  }

  test('names and emails stay in it until their person is deleted, those of others longer', async () => {
    const email = newEmail()
    const password = randomUUID()
    const fullName = `اسم ${randomUUID().slice(0, 8)}`
    const created = { email, password, email_confirm: true, user_metadata: { full_name: fullName } }
    const { id } = await ask('POST', '/admin/users', created)
    const session = await ask('POST', '/token?grant_type=password', { email, password })
    await ask('POST', '/token?grant_type=refresh_token', { refresh_token: session.refresh_token })
    const newPassword = { password: randomUUID(), current_password: password }
    await database().query(
      'select private.announce_password($1, id) from auth.sessions where user_id = $1',
      [id],
    )
    await ask('PUT', '/user', newPassword, session.access_token)
    await ask('PUT', `/admin/users/${id}`, { user_metadata: { theme: 'dark' } })
    await ask('POST', '/logout', {}, session.access_token)

    const self = { actor_id: id, actor_name: fullName, actor_username: email, actor_via_sso: false }
    const admin = {
      actor_id: '00000000-0000-0000-0000-000000000000',
      actor_username: 'service_role',
      actor_via_sso: false,
    }
    const traits = { user_id: id, user_email: email, user_phone: '' }
    const account = 'account'
    const user = 'user'
    expect(await logOf(id)).toEqual([
      {
        ...admin,
        action: 'user_signedup',
        log_type: 'team',
        traits: { ...traits, provider: 'email' },
      },
      { ...self, action: 'login', log_type: account, traits: { provider: 'email' } },
      { ...self, action: 'token_refreshed', log_type: 'token' },
      { ...self, action: 'user_updated_password', log_type: user },
      { ...self, action: 'user_modified', log_type: user },
      { ...admin, action: 'user_modified', log_type: user, traits },
      { ...self, action: 'logout', log_type: account },
    ])

    const other = { email: newEmail(), password, email_confirm: true }
    const { id: otherId } = await ask('POST', '/admin/users', other)
    await ask('POST', '/token?grant_type=password', other)
    await runJobs()
    expect(await logOf(id)).toHaveLength(7)
    // The user is deleted through Auth, which logs the deletion.
    await ask('DELETE', `/admin/users/${id}`)
    expect(await logOf(id)).toHaveLength(8)
    await runJobs()
    expect(await logOf(id)).toEqual([])
    expect(await logOf(otherId)).toHaveLength(2)
    const { rows } = await database().query(
      `select from auth.audit_log_entries where payload::text like any ($1)`,
      [[email, fullName].map((text) => `%${text}%`)],
    )
    expect(rows).toEqual([])
  })
})
