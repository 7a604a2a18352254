// Strangers who share an IP address cannot harm other people or cause their neighbours' requests to be
// refused. The tests use the rate limits of a new project.
import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { database, newEmail, type Person, personOf, signUp } from '../support/client.ts'
import { postMessage } from '../support/conversations.ts'
import { type Facade, startFacade, testLocally } from '../support/facade.ts'
import { runJobs } from '../support/jobs.ts'
import { completeFields } from '../support/listings.ts'
import { bulk, isNightly } from '../support/nightly.ts'
import { withRates } from '../support/own-rates.ts'
import { defaultRates } from '../support/rates.ts'
import { Clock, newcomer, type Post, type Registered } from './simulated-people.ts'

withRates(defaultRates(/./))

let facade: Facade
beforeAll(async () => {
  facade = await startFacade({
    READ_RATE: undefined,
    REFUSAL_RATE: undefined,
    SMS_PER_DAY: undefined,
  })
  // Runs the job that stores in the database whether codes can be sent.
  await runJobs()
})
afterAll(() => facade?.stop())

beforeEach(async () => {
  await database().query('delete from private.rate_hits where true')
  await database().query('delete from private.sms_sent where true')
  await database().query('delete from private.email_registrations where true')
})

const newAddress = () => `198.18.${randomInt(256)}.${randomInt(256)}`
const postFrom = (address: string): Post => (path, body) =>
  facade.post(`/auth${path}`, body, { 'x-forwarded-for': address })

type Given = { identifier: string; password: string }
const newGiven = (): Given => ({
  identifier: newEmail(),
  password: randomUUID(),
})

async function registerByEmail(
  post: Post,
  given = newGiven(),
): Promise<Person> {
  expect(await post('/register', given)).toMatchObject({ status: 201 })
  return await signInAt(post, given)
}

async function signInAt(post: Post, given: Given): Promise<Person> {
  const { body } = await post('/login', given)
  return personOf(body, given.identifier, given.password)
}

async function address(person: Person, identityId: string): Promise<number[]> {
  const published = await person.post('/properties', {
    ...completeFields.SALE,
    publish: true,
  })
  const opened = await person.post('/conversations', {
    identityId,
    message: 'مرحبا',
  })
  const written = opened.status === 201 ? [await postMessage(person, opened.body.id)] : []
  return [published, opened, ...written].map(({ status }) => status)
}

testLocally(
  'HARM-02 of 300 people behind one address nobody is refused',
  async () => {
    const people = bulk(300, 75)
    const byEmails = people / 15
    const clock = new Clock()
    const post = postFrom(newAddress())
    const registered: Registered[] = []
    const sellers = await Promise.all(
      Array.from({ length: 4 }, () => signUp()),
    )
    const answers: number[][] = []
    // Each of these people registers and writes without waiting, so the generator never yields.
    // deno-lint-ignore require-yield
    async function* byEmail(nth: number): AsyncGenerator<number, void> {
      const person = await registerByEmail(post)
      answers.push(
        await address(person, sellers[nth % sellers.length]!.identityId),
      )
    }
    for (let nth = 0; nth < people; nth++) {
      clock.at(
        nth * 36,
        nth % 15 === 14 ? byEmail(nth) : newcomer(clock, post, registered),
      )
    }
    await clock.run()
    expect(registered).toHaveLength(people - byEmails)
    const late = registered.filter(({ took }) => took > 300).length
    console.log(
      `of ${registered.length} by phone ${late} waited more than five minutes; ${byEmails} by email wrote at once`,
    )
    expect(late).toBeLessThanOrEqual(2)
    expect(answers).toEqual(Array(byEmails).fill([201, 201, 201]))
  },
)

testLocally(
  'HARM-03 ten accounts without a proof reach at most 50 people in a day',
  async () => {
    const post = postFrom(newAddress())
    const victims = await Promise.all(
      Array.from({ length: 12 }, () => signUp()),
    )
    const reached = new Set<string>()
    let most = 0
    for (let nth = 0; nth < 10; nth++) {
      const writer = await registerByEmail(post)
      for (const { identityId } of victims.slice(0, 8)) {
        const opened = await writer.post('/conversations', {
          identityId,
          message: 'مرحبا',
        })
        if (opened.status === 429) continue
        reached.add(`${nth} ${identityId}`)
        let count = 1
        while (
          count < 8 &&
          (await postMessage(writer, opened.body.id)).status === 201
        ) count++
        most = Math.max(most, count)
      }
    }
    console.log(
      `ten accounts without a proof reached ${reached.size}, with at most ${most} messages each`,
    )
    expect([reached.size, most]).toEqual([50, 5])
  },
)

testLocally(
  'HARM-01 of 600 registered at one address in an hour at most 20 address anybody',
  async () => {
    const post = postFrom(newAddress())
    const all = Array.from({ length: bulk(600, 60) }, newGiven)
    for (let from = 0; from < all.length; from += 10) {
      const replies = await Promise.all(
        all.slice(from, from + 10).map((given) => post('/register', given)),
      )
      for (const { status } of replies) expect(status).toBe(201)
    }
    if (isNightly) expect((await post('/register', newGiven())).status).toBe(429)
    const { rows } = await database().query(
      `select email, proof_first as marked from public.accounts where email = any ($1)`,
      [all.map(({ identifier }) => identifier)],
    )
    const free = rows.filter(({ marked }) => !marked).map(({ email }) => email)
    console.log(
      `of ${rows.length} registered in an hour ${free.length} may address others`,
    )
    expect([rows.length, free.length]).toEqual([all.length, 20])
    const { identityId } = await signUp()
    const chosen = all.filter(({ identifier }, nth) => free.includes(identifier) || nth % 30 === 29)
    for (const given of chosen) {
      const answered = await address(await signInAt(post, given), identityId)
      expect(answered).toEqual(
        free.includes(given.identifier) ? [201, 201, 201] : [403, 403],
      )
    }
  },
)
