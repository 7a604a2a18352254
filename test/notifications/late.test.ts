import { afterEach, beforeEach, expect, test } from 'vitest'
import type pg from 'pg'
import { database, type Person, signUp } from '../support/client.ts'
import {
  notificationsOf,
  notify,
  serviceMessage,
  waitForNotification,
} from '../support/notifications.ts'
import { waitUntil } from '../support/wait.ts'
import { runJobs } from '../support/jobs.ts'

let person: Person
let other: pg.PoolClient

beforeEach(async () => {
  person = await signUp()
  other = await database().connect()
  await other.query('begin')
  await other.query('select from auth.users where id = $1 for update', [person.id])
  await other.query('select private.lock_account_exclusively($1)', [person.id])
})

afterEach(async () => {
  await other.query('rollback')
  other.release()
})

const rows = async (table: string) =>
  (await database().query(`select from ${table} where account_id = $1`, [person.id])).rowCount

/**
 * Runs the jobs until no deferred notification is left. For a second they skip those that ran into a lock.
 */
const noneIsLate = () =>
  waitUntil('no notification is late', async () => {
    await runJobs()
    return await rows('private.deferred_notifications') === 0
  })

const yesterday = new Date(Date.now() - 86_400_000).toISOString()
const notifyPerson = () => notify(person, 'system', { ...serviceMessage(), at: yesterday })

test('a job does not wait for an account that is being changed, and notifies it later', async () => {
  await notifyPerson()
  expect([await rows('public.notifications'), await rows('private.deferred_notifications')])
    .toEqual([0, 1])
  await other.query('rollback')
  await noneIsLate()
  const { createdAt } = await waitForNotification(person, 'system')
  expect(new Date(createdAt)).toEqual(new Date(yesterday))
  expect(await notificationsOf(person, 'system')).toHaveLength(1)
})

test('an account deleted in that moment keeps no notification', async () => {
  await notifyPerson()
  await other.query('delete from auth.users where id = $1', [person.id])
  await other.query('commit')
  await noneIsLate()
  expect(await rows('public.notifications')).toBe(0)
})
