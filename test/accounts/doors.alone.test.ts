// A daily job checks whether clients can bypass the facade by calling Auth directly. The tests temporarily
// allow this, so they run alone.
import type { ServerResponse } from 'node:http'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { readStack } from '../../local/config/stack.ts'
import { forget, unsettled } from '../base/facade-requests.ts'
import { jsonAnswer, startProjectProxy } from '../base/project-proxy.ts'
import { database, projectUrl, secretKey } from '../support/client.ts'
import { hasStack, startFacade } from '../support/facade.ts'
import { drain, runJobs } from '../support/jobs.ts'
import { waitUntil } from '../support/wait.ts'

const tryDoors = async (jobs = `${projectUrl}/functions/v1/jobs`) =>
  (await fetch(`${jobs}/doors`, { method: 'POST', headers: { apikey: secretKey } })).json()
const decoys = async () =>
  (await database().query(`select email from auth.users where email like '%@accounts.invalid'`))
    .rows.map(({ email }) => email)
const open = async () => (await unsettled('auth_door_open')).map(({ subject_id }) => subject_id)

describe.runIf(hasStack)('REG-28 the doors of Auth', () => {
  let auth: pg.Client
  const fences = {
    users: [
      'check_password_at_auth',
      'check_password_change_at_auth',
      'on_password_changed',
      'check_contact_at_auth',
    ],
    identities: ['check_auth_identity'],
  }
  const fence = async (state: 'enable' | 'disable') => {
    for (const [table, triggers] of Object.entries(fences)) {
      for (const name of triggers) {
        await auth.query(`alter table auth.${table} ${state} trigger ${name}`)
      }
    }
  }

  beforeAll(async () => {
    const stack = readStack({
      ...process.env,
      PORT: new URL(projectUrl).port,
      LOCAL_DATA: variable('LOCAL_STACK'),
    })
    auth = new pg.Client({ connectionString: stack.databaseUrl('supabase_admin') })
    await auth.connect()
  })

  afterAll(async () => {
    await auth?.end()
    await forget('auth_door_open')
  })

  test('are shut, and nobody is told that they were tried', async () => {
    await database().query("select setval('private.refused_password', 0, false)")
    expect(await tryDoors()).toEqual({ open: [] })
    await drain('report_refused_password')
    expect(await open()).toEqual([])
    expect(await unsettled('password_refused_at_auth')).toEqual([])
  })

  test('are tried once a day by the jobs', async () => {
    await database().query(`delete from private.timestamps where name = 'doors_tried'`)
    // The stack's own scheduler may have run the job already.
    await waitUntil('they were tried', async () => {
      const { try_doors } = await runJobs()
      expect(try_doors).toMatchObject({ done: expect.any(Number) })
      return (await database().query(`select from private.timestamps where name = 'doors_tried'`))
        .rowCount === 1
    })
    expect(await runJobs()).toMatchObject({ try_doors: { done: 0 } })
  })

  test('are tried by one at a time', async () => {
    expect(await Promise.all([tryDoors(), tryDoors(), tryDoors()]))
      .toEqual([{ open: [] }, { open: [] }, { open: [] }])
  })

  test('that open are alarms until they are shut', async () => {
    await fence('disable')
    try {
      for (let times = 0; times < 2; times++) {
        expect(await tryDoors()).toEqual({ open: ['password', 'provider'] })
      }
    } finally {
      await fence('enable')
    }
    expect(await open()).toEqual(expect.arrayContaining(['password', 'provider']))
    expect(await tryDoors()).toEqual({ open: [] })
    await waitUntil('the alarms are settled', async () => (await open()).length === 0)
  })

  async function throughProxy() {
    const project = await startProjectProxy()
    const facade = await startFacade(project.settings, 'api', 'jobs')
    const stop = async () => {
      await facade.stop()
      project.stop()
    }
    return { answers: project.answers, jobs: facade.url.replace(/api$/, 'jobs'), stop }
  }

  test('that an Auth of another version opens are open at every try, and nothing is left of them', async () => {
    const { answers, jobs, stop } = await throughProxy()
    const write = (column: string, value: string) =>
      auth.query(`update auth.users set ${column} = $1 where email like '%@accounts.invalid'`, [
        value,
      ])
    /**
     * Responds like a version of Auth that changes an email at once and stores a new
     * phone until it is confirmed.
     */
    const another = async (response: ServerResponse, sent: string) => {
      const { email, phone, password } = JSON.parse(sent)
      if (password) {
        const message = 'A password is changed by POST /auth/password/change or elsewhere.'
        return jsonAnswer(409, { code: 'PT409', message })(response)
      }
      if (email) await write('email', email)
      if (phone) await write('phone_change', phone)
      return jsonAnswer(200, {})(response)
    }
    /**
     * Expects an inconclusive check of email and phone, so that only the alarm about the provider is settled.
     */
    const provesNothing = async () => {
      await database().query(`select private.raise_alarm('auth_door_open', 'provider')`)
      expect(await tryDoors(jobs)).toEqual({ open: [] })
      // Alarms are settled one after another; the one about the provider is the last.
      await waitUntil('what is shut is settled', async () => !(await open()).includes('provider'))
      expect((await open()).toSorted()).toEqual(['email', 'phone'])
      expect(await decoys()).toEqual(['decoy@accounts.invalid'])
    }
    try {
      answers.set('/auth/v1/user', another)
      for (let times = 0; times < 2; times++) {
        expect(await tryDoors(jobs)).toEqual({ open: ['email', 'phone'] })
        expect(await decoys()).toEqual(['decoy@accounts.invalid'])
      }
      expect((await open()).toSorted()).toEqual(['email', 'phone'])
      // Auth is too busy, or refuses for an unrelated reason.
      const elsewise: [status: number, body: object][] = [
        [503, {}],
        [429, { error_code: 'over_request_rate_limit' }],
        [401, { error_code: 'bad_jwt', msg: 'invalid JWT' }],
        [403, { error_code: 'session_not_found', msg: 'Session does not exist' }],
        [409, { code: 'PT409', message: 'An account has an email as people write it.' }],
        [422, { error_code: 'email_address_invalid', msg: 'It is invalid' }],
      ]
      for (const [status, body] of elsewise) {
        answers.set('/auth/v1/user', jsonAnswer(status, body))
        await provesNothing()
      }
      // Auth makes the changes, but the job cannot read the user afterwards.
      answers.set('/auth/v1/user', another)
      for (const silence of [jsonAnswer(503, {}), jsonAnswer(429, {}), jsonAnswer(404, {})]) {
        answers.set('GET /auth/v1/admin/users/', silence)
        await provesNothing()
      }
    } finally {
      await stop()
    }
    expect(await tryDoors()).toEqual({ open: [] })
    await waitUntil('the alarms are settled', async () => (await open()).length === 0)
    expect(await decoys()).toEqual(['decoy@accounts.invalid'])
  })

  test('are left to whoever has the place of a try that took too long', async () => {
    const { answers, jobs, stop } = await throughProxy()
    try {
      answers.set('/auth/v1/user', async (response) => {
        await database().query(
          `update private.timestamps set at = at + interval '1 second' where name = 'doors'`,
        )
        jsonAnswer(503, {})(response)
      })
      expect(await tryDoors(jobs)).toEqual({ open: [] })
      const { rowCount } = await database().query(
        `delete from private.timestamps where name = 'doors'`,
      )
      expect(rowCount).toBe(1)
    } finally {
      await stop()
    }
    expect(await tryDoors()).toEqual({ open: [] })
  })
})
