import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { database, signUp } from '../support/client.ts'
import { openConversation } from '../support/conversations.ts'
import { insertListing, insertOrganisation, insertReviews } from '../support/fixtures.ts'
import { topUpInvoice } from '../support/money.ts'
import { description } from '../support/openapi.ts'

/** For each route, the request that the app's screen sends, as documented in docs/apps/pushes.md. */
const reads = new Map(
  [
    ...readFileSync('docs/apps/pushes.md', 'utf8')
      .matchAll(/^\| `(\w+)` \| [^|]+ \| `GET ([^`]+)` \|$/gm),
  ]
    .map(([, route, path]) => [route!, path!]),
)

const kinds = async (): Promise<{ kind: string; route: string; at_once: boolean }[]> =>
  (await database().query('select kind, route, at_once from private.notification_kinds')).rows

async function world(type: string) {
  const [person, other] = [await signUp(), await signUp()]
  let { identityId } = person
  if (type !== 'individual') {
    identityId = await insertOrganisation(person.id, type as 'company')
    await person.post('/auth/identity/switch', { identityId })
  }
  const own = await insertListing(identityId, { owner_type: type })
  await insertReviews(identityId, 5, [other])
  const { rows: [review] } = await database().query(
    'select id from public.reviews where subject_identity_id = $1',
    [identityId],
  )
  const chat = await openConversation(other, { propertyId: own, message: 'هل هو متاح؟' })
  const entities: Record<string, string> = {
    conversation: chat.id,
    leads: own,
    property: await insertListing(other.identityId),
    my_property: own,
    invoice: (await topUpInvoice(person)).id,
    identity: identityId,
    review: review.id,
  }
  return { person, identityId, own, entities }
}

test.each(['individual', 'company', 'office'])(
  'CHAT-26 each kind of notification leads an acting %s to something that it may read',
  async (type) => {
    const { person, identityId, own, entities } = await world(type)
    for (const { kind, route } of await kinds()) {
      const path = reads.get(route)
      expect(path, `${kind}: ${route} is not in docs/apps/pushes.md`).toBeDefined()
      const url = path!.replace('{entityId}', entities[route] ?? randomUUID())
        .replace('{identityId}', identityId)
      const { status, body } = await person.get(url)
      expect([kind, url, status]).toEqual([kind, url, 200])
      if (route === 'leads') expect(body.items).toMatchObject([{ property: { id: own } }])
      if (route === 'review') expect(body.items).toMatchObject([{ id: entities.review }])
    }
  },
)

test('apps are told of the routes that there are, and of the kinds that no quiet hours hold back', async () => {
  const rows = await kinds()
  expect([...reads.keys()].sort()).toEqual([...new Set(rows.map(({ route }) => route))].sort())
  const { quietHours } = description.components.schemas.Settings!.properties!
  const said = JSON.stringify(quietHours).match(/(security|deletion)_\w+/g)
  expect(said?.sort()).toEqual(rows.filter((row) => row.at_once).map(({ kind }) => kind).sort())
})
