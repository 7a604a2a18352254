import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { restore, sentBy, twoAcquaintances } from './lock-races.ts'
import { actions, adminActions, deletion, leftOut } from './racing-actions.ts'
import { makeAdmin } from '../support/admins.ts'
import { operationOf } from '../support/answers.ts'
import { type Person, signUp } from '../support/client.ts'
import { everyOperation } from '../support/openapi.ts'
import { type RawRequest, sendRaw } from '../support/races.ts'

test('every write of the API races for locks, or is left out for a reason', async () => {
  const admin = await makeAdmin(await signUp())
  const people = await twoAcquaintances()
  const { one, other, talk } = people
  const racing = new Set<string>()
  const failed: unknown[] = []

  /** Expects success without a race, because a refused request would not compete for locks. */
  async function does(what: string, by: Person, shot: RawRequest) {
    const { status, body } = await sendRaw(sentBy(by, shot))
    if (status >= 300) failed.push([what, status, body])
    racing.add(operationOf(shot.method ?? 'POST', shot.path)!.id)
  }

  for (const [name, action] of Object.entries(actions)) {
    await does(name, one, await action(one, other, talk))
    await restore(people)
  }
  for (const [name, shots] of Object.entries(adminActions)) {
    for (const shot of shots(one)) await does(name, admin, shot)
    await restore(people)
  }
  racing.add(operationOf(deletion(one).method!, deletion({ id: randomUUID() }).path)!.id)
  expect(failed).toEqual([])

  const writes = everyOperation.filter(({ method }) => method !== 'GET').map(({ id }) => id)
  expect(writes.filter((id) => racing.has(id) === Object.hasOwn(leftOut, id))).toEqual([])
  expect(Object.keys(leftOut).filter((id) => !writes.includes(id))).toEqual([])
})
