import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { insertOrganisation } from '../support/fixtures.ts'

let owner: Person
let office: string

beforeEach(async () => {
  owner = await signUp()
  office = await insertOrganisation(owner.id, 'office')
  await owner.post('/auth/identity/switch', { identityId: office })
})

/** Makes a conversation with messages of these ages, from the asker (>) or the office (<). */
async function talk(lines: [who: '>' | '<', minutesAgo: number][]) {
  const asker = await signUp()
  const opened = await asker.post('/conversations', { identityId: office })
  expect(opened.status).toBe(201)
  for (const [who, minutesAgo] of lines) {
    const said = await (who === '>' ? asker : owner).post(
      `/conversations/${opened.body.id}/messages`,
      { clientMessageId: randomUUID(), type: 'text', body: 'مرحبا' },
    )
    expect(said.status).toBe(201)
    await database().query(
      'update public.messages set created_at = now() - make_interval(mins => $2) where id = $1',
      [said.body.id, minutesAgo],
    )
  }
}

async function measured(): Promise<number | null> {
  await database().query(
    `update private.response_measures set measured_at = '-infinity' where identity_id = $1`,
    [office],
  )
  // Runs the job twice, because many offices may be due. Those measured longest ago come first.
  await Promise.all([1, 2].map(() => database().query('select private.measure_responses()')))
  return (await guest.get(`/office/${office}`)).body.medianResponseMinutes
}

test('the response time of an office is the median over its answers, of five or more', async () => {
  expect(await measured()).toBeNull()
  await talk([['>', 100]]) // never answered
  // The response time runs from the asker's first message to the first answer. A message with which the
  // office begins a conversation is not measured.
  await talk([['<', 900], ['>', 800], ['>', 790], ['<', 760], ['<', 700]])
  await talk([['>', 3000], ['<', 2700]])
  await talk([['>', 60], ['<', 58], ['>', 50], ['<', 47]])
  expect(await measured()).toBeNull()
  await talk([['>', 600], ['<', 100]])
  expect(await measured()).toBe(40) // the median of 2, 3, 40, 300 and 500
  expect((await owner.get('/office/stats')).body.medianResponseMinutes).toBe(40)
})

test('messages older than 90 days do not count', async () => {
  for (let i = 0; i < 5; i++) await talk([['>', 130_000], ['<', 129_999]])
  expect(await measured()).toBeNull()
  for (let i = 0; i < 5; i++) await talk([['>', 20], ['<', 0]])
  expect(await measured()).toBe(20)
})
