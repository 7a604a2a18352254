import { expect, test } from 'vitest'
import { measureHops, runJobs, smokeTest, verifyCaptcha } from '../../local/deploy/live-checks.ts'
import {
  baseUrl,
  database,
  guest,
  projectUrl,
  publishableKey,
  secretKey,
  signIn,
  signUp,
} from '../support/client.ts'
import { publishListing } from '../support/listings.ts'

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

test('only the secret key learns which address jobs see, and no caller can forge it', async () => {
  const url = `${projectUrl}/functions/v1/jobs/address`
  expect((await fetch(url)).status).toBe(401)
  expect((await fetch(url, { headers: { apikey: 'sb_secret_wrong' } })).status).toBe(401)

  const seen = async (headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { headers: { apikey: secretKey, ...headers } })
    expect(answer.status).toBe(200)
    return await answer.json()
  }
  const plain = await seen()
  expect(plain).toEqual({
    address: expect.stringMatching(/^[0-9a-f.:/]+$/),
    forwardedFor: expect.stringContaining('.'),
    hops: expect.any(Number),
  })
  expect((await seen({ 'x-forwarded-for': '203.0.113.9' })).address).toBe(plain.address)
  expect(await measureHops(url, secretKey)).toBe(plain.hops)
})

test('this project answers what deploy checks at its end', async () => {
  await verifyCaptcha(projectUrl, publishableKey)
  const functionsUrl = `${projectUrl}/functions/v1`
  const live = await smokeTest(functionsUrl, baseUrl, ['api', 'jobs', 'chat'], secretKey)
  expect(live.answered).toEqual(['api', 'jobs', 'chat'])
  expect(live.health).toMatchObject({ database: 'ok' })
  expect(await runJobs(`${functionsUrl}/jobs`, secretKey)).toBeGreaterThan(20)
})

test('a suspension ends at its time, and its listings are visible again', async () => {
  const owner = await signUp()
  const { id } = await publishListing(owner)
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
