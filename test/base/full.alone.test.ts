// Simulates a full disk for some tables. This affects everything that writes to them, so the file runs alone.
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { conversationBetween, textMessage } from '../support/conversations.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { insertListing } from '../support/fixtures.ts'
import { expectUnavailable, untilHealth } from './unwritable.ts'

/** Runs the work while inserts into these tables fail, as if the disk were full. */
async function full(tables: string[], work: () => Promise<void>) {
  await database().query(
    `create function private.refuse_row() returns trigger language plpgsql as $$
    begin
      raise disk_full using message = 'could not extend file: No space left on device';
    end $$`,
  )
  try {
    for (const table of tables) {
      await database().query(
        `create trigger refuse_row before insert on ${table}
         for each row execute function private.refuse_row()`,
      )
    }
    await work()
  } finally {
    await database().query('drop function private.refuse_row cascade')
  }
}

testLocally(
  'CRASH-06 without room reads go on without their view, writes are 503, and health says it',
  async () => {
    const [owner, other] = await Promise.all([signUp(), signUp()])
    const listing = await insertListing(owner.identityId)
    const conversation = await conversationBetween(other, owner)
    const message = textMessage('سلام')
    // A worker goes on reporting a full disk for half a minute, so the test starts its own facade.
    const token = randomUUID()
    const facade = await startFacade({ METRICS_TOKEN: token })
    const as = ({ accessToken }: Person) => ({ authorization: `Bearer ${accessToken}` })
    const send = () => facade.post(`/conversations/${conversation}/messages`, message, as(other))
    const read = () => facade.get(`/properties/${listing}`, as(other))
    try {
      await full(['private.property_views', 'public.messages', 'private.codes'], async () => {
        expect((await read()).body.id).toBe(listing)
        const { identifier } = owner
        expect((await facade.post('/auth/password/forgot', { identifier })).status).toBe(202)
        expectUnavailable(await send())
        await untilHealth('degraded', 'full', facade)
        const headers = { authorization: `Bearer ${token}` }
        const figures = await (await fetch(`${facade.url}/metrics`, { headers })).text()
        expect(figures).toContain('\nmarketplace_part_up{part="database"} 0\n')
        expect(figures).toContain('\nmarketplace_database_up 1\n')
      })
      expect((await send()).status).toBe(201)
      await read()
    } finally {
      await facade.stop()
    }
    const { body } = await owner.get(`/conversations/${conversation}/messages`)
    expect(body.items).toHaveLength(1)
    const { rows } = await database().query(
      'select identity_id from private.property_views where property_id = $1',
      [listing],
    )
    expect(rows).toEqual([{ identity_id: other.identityId }])
  },
)
