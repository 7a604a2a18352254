import type { Action, Side } from './racing-actions.ts'
import { database } from '../support/client.ts'
import { insertListing } from '../support/fixtures.ts'
import { completeFields } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import type { RawRequest } from '../support/races.ts'
import { filePart, rawForm, uploadPictures } from '../support/uploads.ts'

export const formField = (name: string, value: string) =>
  `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`

export function pictureForm(
  field: string,
  ...more: string[]
): Pick<RawRequest, 'body' | 'headers'> {
  const picture = jpeg({ width: 64, height: 64, shade: Math.floor(Math.random() * 256) })
  const { body, headers } = rawForm([...more, filePart(field, 'filename="a.jpg"', picture)])
  return { body, headers: Object.entries(headers) as [string, string][] }
}

async function savedListing(by: Side, about: Side, columns: object = {}): Promise<string> {
  const id = await insertListing(by.office, { ...columns })
  await database().query(
    'insert into public.favorites (identity_id, property_id) values ($1, $2)',
    [about.office, id],
  )
  return id
}

const post = (id: string, what: string) => ({ method: 'POST', path: `/properties/${id}/${what}` })

const doneTo = (what: string, columns: object = {}): Action => async (by, about) =>
  post(await savedListing(by, about, columns), what)

const past = () => new Date(Date.now() - 60_000)
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

const auction = () => ({
  startsAt: inDays(1),
  endsAt: inDays(3),
  startPrice: 1000,
  minIncrement: 10,
})

async function picturedListing(by: Side, about: Side) {
  const propertyId = await savedListing(by, about)
  const bytes = () => jpeg({ width: 64, height: 64, shade: Math.floor(Math.random() * 256) })
  const { status, body } = await uploadPictures(by, [bytes(), bytes()], { propertyId })
  if (status !== 201) throw new Error(`no pictures: ${status} ${JSON.stringify(body)}`)
  const mediaIds: string[] = body.files.map(({ mediaId }: { mediaId: string }) => mediaId)
  return { path: `/properties/${propertyId}/media`, mediaIds }
}

export const listingActions: Record<string, Action> = {
  create: () => ({ path: '/properties', body: { ...completeFields.SALE, publish: true } }),
  publish: ({ drafted }) => post(drafted, 'publish'),
  patch: ({ listing }) => ({
    method: 'PATCH',
    path: `/properties/${listing}`,
    body: { price: 100_000 + Math.floor(Math.random() * 9000) },
  }),
  pause: ({ listing }) => post(listing, 'pause'),
  resume: async ({ listing }) => {
    await database().query(`update public.properties set status = 'paused' where id = $1`, [
      listing,
    ])
    return post(listing, 'resume')
  },
  renew: doneTo('renew', { status: 'expired', expires_at: past() }),
  archive: doneTo('archive'),
  restoreArchived: doneTo('restore', { status: 'archived' }),
  sold: doneTo('mark-sold'),
  rented: doneTo('mark-rented', { type: 'RENT' }),
  exchanged: doneTo('mark-exchanged', { type: 'EXCHANGE', price: null }),
  confirm: ({ listing }) => post(listing, 'confirm-available'),
  delete: async (by, about) => ({
    method: 'DELETE',
    path: `/properties/${await savedListing(by, about)}`,
  }),
  auction: async (by, about) => ({
    path: `/properties/${await savedListing(by, about)}/auction`,
    body: auction(),
  }),
  endAuction: async (by, about) => {
    const id = await savedListing(by, about)
    await by.post(`/properties/${id}/auction`, auction())
    return { method: 'DELETE', path: `/properties/${id}/auction` }
  },
  move: async (by, about) => ({
    path: '/properties/move',
    body: { ids: [await savedListing(by, about)], identityId: by.identityId },
  }),
  pictures: ({ listing }) => ({
    path: '/media/upload/listings',
    ...pictureForm('files', formField('propertyId', listing)),
  }),
  pictureOrder: async (by, about) => {
    const { path, mediaIds } = await picturedListing(by, about)
    return { method: 'PUT', path: `${path}/order`, body: { mediaIds: mediaIds.toReversed() } }
  },
  deletePicture: async (by, about) => {
    const { path, mediaIds } = await picturedListing(by, about)
    return { method: 'DELETE', path: `${path}/${mediaIds[0]}` }
  },
}
