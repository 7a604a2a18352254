import { expect, test } from 'vitest'
import { makeAdmin, signUpAdmin } from '../support/admins.ts'
import { database, newPhone, signUp } from '../support/client.ts'
import { notificationsOf } from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'
import { act, edit, why } from './studio.ts'

test('ADM-17 new ones, and every act on the account of one, whatever their preferences say', async () => {
  const reader = await signUpAdmin()
  const off = { account: { inApp: false, push: false } }
  expect((await reader.patch('/settings', { notifications: off })).status).toBe(200)
  const name = `مشرف ${newPhone()}`
  const person = await signUp(name)
  const notified = async () =>
    (await notificationsOf(reader, 'admin_event'))
      .map(({ bodyEn }) => String(bodyEn))
      .filter((body) => body.startsWith(name))
      .map((body) => body.slice(name.length + 1).split('.')[0])
  const hears = (what: string) =>
    waitUntil(`"${what}"`, async () => (await notified()).includes(what))

  await database().query('insert into public.admins (account_id) values ($1)', [person.id])
  await hears('is an administrator now')
  await act({ act: 'suspend_account', target: person.id, reason: why })
  await hears('was suspended')
  await act({ act: 'activate_account', target: person.id, reason: why })
  await hears('was let in again')
  await act({ act: 'set_identifier', target: person.id, value: newPhone(), reason: why })
  await hears('was given another phone or email')
  await edit('accounts', person.id, { status: 'banned', status_reason: why })
  await hears('was banned')
  await act({ act: 'delete_account', target: person.id, reason: why })
  await hears('was deleted')
  expect(new Set(await notified()).size).toBe(6)

  // An act on the account of somebody who is no administrator notifies none.
  const plain = `${name} عادي`
  await act({ act: 'suspend_account', target: (await signUp(plain)).id, reason: why })
  const other = await makeAdmin(await signUp(`${name} آخر`))
  await database().query('delete from public.admins where account_id = $1', [other.id])
  const bodies = async () =>
    (await notificationsOf(reader, 'admin_event')).map(({ bodyEn }) => String(bodyEn))
  await waitUntil(
    'that one is no administrator any more',
    async () => (await bodies()).some((body) => body.startsWith(`${name} آخر is no administrator`)),
  )
  expect((await bodies()).filter((body) => body.startsWith(plain))).toEqual([])
})
