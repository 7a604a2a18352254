// Creates items that wait for a decision in the desk's queue.
import { randomUUID } from 'node:crypto'
import { database, type Person, signUp } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { insertListing } from '../support/fixtures.ts'
import { jpeg } from '../support/pictures.ts'
import { uploadDocuments, uploadPictures } from '../support/uploads.ts'
import { plainPdf } from './pdfs.ts'

const unpublished = { status: 'pending_review', published_at: null, expires_at: null }

export const waitingListing = (
  { identityId }: Person,
  title = `فيلا ${randomUUID().slice(0, 8)}`,
  columns: Record<string, unknown> = {},
) => insertListing(identityId, { ...unpublished, title_ar: title, ...columns })

export const statusOf = async (owner: Person, id: string): Promise<string> =>
  (await owner.get(`/properties/${id}`)).body.status

export const leaveChanges = (id: string, changes: object) =>
  database().query('update public.properties set pending_changes = $2 where id = $1', [id, changes])

export async function waitingCompany(
  owner: Person,
  nameAr = 'دار الفنطاس العقارية',
): Promise<string> {
  const { body } = await owner.post('/auth/identities', {
    type: 'company',
    nameAr,
    licenceNo: randomUUID().slice(0, 12).toUpperCase(),
    licenceExpiresOn: '2040-01-01',
  })
  return body.id
}

export const sendPapers = (owner: Person, company: string) =>
  uploadDocuments(owner, company, [
    { name: 'رخصة.pdf', type: 'application/pdf', bytes: plainPdf('LICENCE 4711') },
    { name: 'هوية.jpg', bytes: jpeg({ width: 60, height: 40 }) },
  ])

/** Creates one item of each kind and returns their ids; the reported message is between two other people. */
export async function oneOfEach(owner: Person) {
  const listing = await waitingListing(owner)
  await uploadPictures(owner, [jpeg({ width: 90, height: 60 })], { propertyId: listing })
  const changes = await insertListing(owner.identityId, { title_ar: 'بيت زاوية في السالمية' })
  await leaveChanges(changes, { price: 77000.5, titleAr: 'بيت بطن في السالمية' })
  const identity = await waitingCompany(owner)
  await sendPapers(owner, identity)
  const [{ a, b, conversationId }, reporter] = await Promise.all([startConversation(), signUp()])
  const { body: message } = await postMessage(a, conversationId, 'حوّل العربون اليوم')
  const report = async (by: Person, targetType: string, targetId: string) =>
    (await by.post('/reports', { targetType, targetId, reason: 'fraud', note: 'إعلان كاذب' })).body
      .id
  return {
    listing,
    changes,
    identity,
    reportOfListing: await report(reporter, 'property', changes) as string,
    reportOfMessage: await report(b, 'message', message.id) as string,
  }
}
