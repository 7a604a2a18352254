// The setting SHARE_URL applies to all listings, so this file runs alone.
import { expect } from 'vitest'
import { database, guest, type Person, signUp } from '../support/client.ts'
import { startFacade, testLocally } from '../support/facade.ts'
import { createDraft, type Listing, publishListing } from '../support/listings.ts'
import { png } from '../support/pictures.ts'
import { formOf } from '../support/uploads.ts'

const shareUrl = async (person: Pick<Person, 'get'>, { id }: Listing) =>
  (await person.get(`/properties/${id}`)).body.shareUrl

/** Starts functions with this setting and makes them store it in the database, by an upload. */
async function withSetting(SHARE_URL: string | undefined, seller: Person) {
  const functions = await startFacade(SHARE_URL ? { SHARE_URL } : {})
  try {
    const { status } = await fetch(`${functions.url}/media/upload/avatar`, {
      method: 'POST',
      body: formOf('file', [{ bytes: png({ width: 40, height: 30 }) }]),
      headers: { authorization: `Bearer ${seller.accessToken}` },
    })
    expect(status).toBe(201)
  } finally {
    await functions.stop()
  }
}

testLocally('records of what strangers may see have an address to be passed on', async () => {
  const [seller, buyer] = [await signUp(), await signUp()]
  const [active, sold, paused] = [
    await publishListing(seller),
    await publishListing(seller),
    await publishListing(seller),
  ]
  const draft = await createDraft(seller)
  await seller.post(`/properties/${sold.id}/mark-sold`)
  await seller.post(`/properties/${paused.id}/pause`)
  const everybody = [guest, buyer, seller]
  for (const person of everybody) expect(await shareUrl(person, active)).toBe(null)
  try {
    for (
      const template of ['https://market.example/p/{refNo}', 'https://m.example/?p={refNo}&s=1']
    ) {
      const of = ({ refNo }: Listing) => template.replace('{refNo}', refNo)
      // A job of the stack, which runs without the setting, may reset the stored value at any moment.
      await expect.poll(async () => {
        await withSetting(template, seller)
        const { body } = await guest.get(`/identities/${seller.identityId}/listings?fields=full`)
        return [
          await Promise.all(everybody.map((person) => shareUrl(person, active))),
          await Promise.all(everybody.map((person) => shareUrl(person, sold))),
          [await shareUrl(seller, paused), await shareUrl(seller, draft)],
          body.items.map((item: Listing) => item.shareUrl),
        ]
      }).toEqual([
        everybody.map(() => of(active)),
        everybody.map(() => of(sold)),
        [null, null],
        [of(active)],
      ])
    }
    await withSetting(undefined, seller)
    for (const person of everybody) expect(await shareUrl(person, active)).toBe(null)
  } finally {
    await database().query(`update private.settings set value = 'null' where name = 'share_url'`)
  }
})
