// The test counts the deadlocks of the whole database, so it runs alone.
import { expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { registerDevice } from '../support/notifications.ts'
import { bearer, deadlocks, race } from '../support/races.ts'

const owners = async (pushToken: string) => {
  const { rows } = await database().query(
    'select account_id from public.devices where push_token = $1',
    [pushToken],
  )
  return rows.map((row) => row.account_id)
}

test('two accounts and two devices that swap their tokens at once end with one owner each', async () => {
  const [sara, fahad] = [await signUp(), await signUp()]
  const before = await deadlocks()
  for (let round = 0; round < 10; round++) {
    const [one, two] = [await registerDevice(sara), await registerDevice(fahad)]
    const put = (person: Person, { deviceId }: typeof one, { pushToken }: typeof one) => ({
      method: 'PUT',
      path: '/devices',
      body: { deviceId, platform: 'ios', pushToken },
      headers: [bearer(person)],
    })
    const replies = await race([put(sara, one, two), put(fahad, two, one)])
    expect(replies.map(({ status }) => status)).toEqual([200, 200])
    expect(await owners(one.pushToken)).toEqual([fahad.id])
    expect(await owners(two.pushToken)).toEqual([sara.id])
  }
  expect(await deadlocks()).toBe(before)
})
