/** Studio of the embedded stack: what an admin opens in a browser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { auditOf, signUpAdmin } from '../../test/support/admins.ts'
import { database, signUp } from '../../test/support/client.ts'
import { hasStack, testLocally } from '../../test/support/facade.ts'
import { views } from '../../test/whole/matrix-outcomes.ts'
import { variable } from '../environment.ts'

const studio: string = hasStack
  ? JSON.parse(readFileSync(join(variable('LOCAL_STACK')!, 'stack.json'), 'utf8')).studioUrl
  : ''

testLocally('Studio shows tables and views with their comments', async () => {
  const page = await (await fetch(studio)).text()
  expect(page).toContain('/studio-notes.js')
  expect(await (await fetch(`${studio}/studio-notes.js`)).text()).toContain('comments')
  const found = await (await fetch(`${studio}/_system/introspect`)).json()
  const names = found.tables.map(({ schema, name }: Record<string, string>) => `${schema}.${name}`)
  expect(names).toEqual(expect.arrayContaining(['public.accounts', 'private.settings', ...views]))
  for (const view of views.filter((view) => view.startsWith('public.'))) {
    const [, name] = view.split('.')
    expect(found.comments.some(({ table }: { table: string }) => table === name), view).toBe(true)
    expect((await fetch(`${studio}/rest/v1/${name}?select=*&limit=1`)).status, view).toBe(200)
  }
})

testLocally(
  'a status changed in Studio is in the audit trail, and sessions have ended',
  async () => {
    const [admin, person] = await Promise.all([signUpAdmin(), signUp()])
    const changed = await fetch(`${studio}/rest/v1/accounts?id=eq.${person.id}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ status: 'suspended', status_reason: 'من الاستوديو' }),
    })
    expect(changed.ok, await changed.text()).toBe(true)
    expect((await person.get('/auth/me')).body.error.code).toBe('account_suspended')
    expect(await auditOf(admin, person.id)).toMatchObject([{
      action: 'account.status',
      actor: null,
      reason: 'من الاستوديو',
      before: { status: 'active' },
      after: { status: 'suspended' },
    }])
    const { rows } = await database().query(
      'select actor from public.admin_audit where target_id = $1',
      [person.id],
    )
    expect(rows).toEqual([{ actor: 'studio' }])
  },
)
