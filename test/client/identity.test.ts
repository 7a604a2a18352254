import { expect, test } from 'vitest'
import { isApiError } from '../../client/src/index.ts'
import { signUp } from '../support/client.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { waitUntil } from '../support/wait.ts'
import { credentials, twoTabs } from './two-tabs.ts'

async function withOffice() {
  const { a, here, there, storage } = await twoTabs()
  const office = await insertOrganisation(a.id, 'office')
  const path = { propertyId: await insertListing((await signUp()).identityId) }
  const acting: (string | undefined)[] = []
  here.client.auth.onChange((session) => acting.push(session?.activeIdentity?.id))
  const favors = () => here.client.post('/favorites/{propertyId}', { path })
  return { a, here, there, storage, office, favors, acting }
}

test.each(['another tab', 'another device'])(
  'nothing is done as an identity that %s has switched to',
  async (where) => {
    const { a, there, office, favors, acting } = await withOffice()
    if (where === 'another tab') await there.client.auth.switchIdentity(office)
    else await a.post('/auth/identity/switch', { identityId: office })
    await expect(favors()).rejects.toMatchObject({
      code: 'identity_changed',
      status: 409,
    })
    // The refusal told the app which identity is acting, so the repeated call acts as that identity.
    expect(acting).toEqual([office])
    expect((await a.get('/favorites/ids')).body.ids).toEqual([])
    expect((await favors()).isFavorite).toBe(true)
    expect((await a.get('/favorites/ids')).body.ids).toHaveLength(1)
  },
)

test('a switch that is answered when somebody else is signed in changes nothing of theirs', async () => {
  const { here, there, office } = await withOffice()
  const b = await signUp()
  const gate = here.hold('/auth/identity/switch')
  const switched = here.client.auth.switchIdentity(office)
  await waitUntil('it is on its way', () => gate.reached)
  await there.client.auth.signIn(credentials(b))
  gate.open()
  await switched
  expect((await here.client.auth.session())?.activeIdentity?.id).toBe(
    b.identityId,
  )
  expect((await there.client.auth.session())?.user.id).toBe(b.id)
})

test('the expected identity goes with writes of what belongs to it, and with nothing else', async () => {
  const { a, here } = await withOffice()
  const other = await signUp()
  const path = { propertyId: await insertListing(other.identityId) }
  const { client, headers, requests } = here
  await client.post('/favorites/{propertyId}', { path })
  await client.upload.pictures([]).catch(isApiError)
  await client.get('/favorites/ids')
  await client.post('/blocks/{identityId}', {
    path: { identityId: other.identityId },
  })
  await client.patch('/settings', { body: {} }).catch(isApiError)
  await client.post('/favorites/{propertyId}', {
    path,
    headers: { 'X-Expect-Identity': other.identityId },
  }).catch(isApiError)
  const sent = headers.map((one) => one['x-expect-identity'])
  expect(
    requests.slice(0, 6).map((
      request,
      nth,
    ) => [request.split(/[ /]/)[2], sent[nth]]),
  )
    .toEqual([
      ['favorites', a.identityId],
      ['media', a.identityId],
      ['favorites', undefined],
      ['blocks', undefined],
      ['settings', undefined],
      ['favorites', other.identityId],
    ])
})
