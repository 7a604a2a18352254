/** Scheduled work, called as the scheduler calls it. */
import { expect, test } from 'vitest'
import { database, guest, projectUrl, secretKey, signIn, signUp } from './client.ts'
import { offer } from './listings.ts'

const run = (apikey?: string) =>
  fetch(`${projectUrl}/functions/v1/jobs`, {
    method: 'POST',
    headers: apikey === undefined ? {} : { apikey },
  })

test('jobs run for the secret key and for nobody else', async () => {
  expect((await run()).status).toBe(401)
  expect((await run('sb_secret_wrong')).status).toBe(401)

  const answer = await run(secretKey)
  expect(answer.status).toBe(200)
  for (const [job, outcome] of Object.entries(await answer.json())) {
    expect(outcome, job).toEqual({ done: expect.any(Number) })
  }
})

test('a suspension whose time is over ends, and its listings are there again', async () => {
  const owner = await signUp()
  const { id } = await offer(owner)
  const suspend = (until: string) =>
    database().query(
      `update public.accounts set status = 'suspended', suspended_until = now() + $2::interval
       where id = $1`,
      [owner.id, until],
    )
  await suspend('1 hour')
  await run(secretKey)
  expect(await guest.get(`/properties/${id}`)).toMatchObject({ status: 404 })

  await suspend('-1 second')
  await run(secretKey)
  expect(await guest.get(`/properties/${id}`)).toMatchObject({ status: 200 })
  expect(await signIn(owner.identifier, owner.password)).toMatchObject({ id: owner.id })
})
