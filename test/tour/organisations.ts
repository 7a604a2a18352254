import { randomUUID } from 'node:crypto'
import { newPerson, type Person, proveEmail } from './accounts.ts'
import { newAdmin } from './admins.ts'
import { pdf } from '../support/pdf.ts'
import { ask, download, type Json, must, step, upload } from './guide.ts'
import { ids, listing, word } from './world.ts'

export async function organisations() {
  let owner: Person
  let company = ''
  let offered = ''

  await step('Asks for a company identity: it waits, and cannot act yet', async () => {
    owner = await newPerson('خالد الرشيد')
    const { body } = await ask('POST', '/auth/identities', {
      type: 'company',
      nameAr: `شركة الجولة ${word}`,
      licenceNo: `T-${randomUUID().slice(0, 12)}`,
      licenceExpiresOn: '2040-12-31',
    }, { as: owner, status: 201 })
    company = body.id
    must(body.status === 'pending_verification', 'it was to wait for an admin')
    await ask('POST', '/auth/identity/switch', { identityId: company }, { as: owner, status: 403 })
    await ask('GET', '/company/profile', undefined, { as: owner, status: 403 })
    await ask('GET', `/company/${company}`, undefined, { as: {}, status: 404 })
  })

  const licence = pdf('Licence')

  await step(
    'Sends its licence, which nobody but its owner and administrators can read',
    async () => {
      const form = new FormData()
      form.append('identityId', company)
      form.append('files', new Blob([new Uint8Array(licence)]), 'رخصة.pdf')
      await upload('/media/upload/documents', form, owner)
      const { body } = await ask('GET', `/auth/identities/${company}/documents`, undefined, {
        as: owner,
      })
      must(body.items[0].name === 'رخصة.pdf', 'the licence was to be listed')
      const path = body.items[0].url
      must((await download(path, owner)).equals(licence), 'its owner was to read it')
      await ask('GET', path, undefined, { as: await newPerson('هند المطيري'), status: 404 })
    },
  )

  await step('An admin reads it and approves the company, and its owner acts as it', async () => {
    const admin = await newAdmin()
    const decision = { status: 'active', reason: 'الترخيص صحيح' }
    const path = `/admin/identities/${company}/status`
    await ask('PATCH', path, decision, { as: admin, status: 409 })
    const { body: queue } = await ask(
      'GET',
      `/admin/moderation?kind=identity&q=${encodeURIComponent(word)}`,
      undefined,
      { as: admin },
    )
    const { documents } = queue.items[0].identity
    must((await download(documents[0].url, admin)).equals(licence), 'the admin was to read it')
    const documentIds = documents.map(({ id }: Json) => id)
    await ask('PATCH', path, { ...decision, documentIds }, { as: admin })
    await ask('POST', '/auth/identity/switch', { identityId: company }, { as: owner })
    const { body } = await ask('GET', '/company/profile', undefined, { as: owner })
    must(body.verified && body.status === 'active', 'it was to be verified')
    const published = await ask('POST', '/properties', listing({ type: 'SALE', price: 240_000 }), {
      as: owner,
      status: 201,
    })
    offered = published.body.id
    await ask('GET', '/office/profile', undefined, { as: owner, status: 403 })
  })

  await step('Everybody finds the company, its page and its listing', async () => {
    const found = await ask('GET', `/companies?q=${encodeURIComponent(word)}`, undefined, {
      as: {},
    })
    must(ids(found.body).includes(company), 'the company was to be found by its name')
    const { body } = await ask('GET', `/company/${company}`, undefined, { as: {} })
    must(body.listings[0]?.id === offered, 'its listing was to be on its page')
    await ask('GET', `/office/${company}`, undefined, { as: {}, status: 404 })
  })

  await step(
    'A review is refused before its author proved an email and both have written',
    async () => {
      const buyer = await newPerson('هند المطيري')
      const review = { identityId: company, rating: 5, comment: 'تعامل ممتاز' }
      await ask('POST', '/reviews', review, { as: buyer, status: 403 })
      await proveEmail(undefined, buyer)
      await ask('POST', '/reviews', review, { as: buyer, status: 403 })
      const opened = await ask('POST', `/properties/${offered}/contact`, { kind: 'chat' }, {
        as: buyer,
      })
      for (const as of [buyer, owner]) {
        const message = { clientMessageId: randomUUID(), type: 'text', body: 'مرحباً' }
        await ask('POST', `/conversations/${opened.body.conversationId}/messages`, message, {
          as,
          status: 201,
        })
      }
      const { body } = await ask('POST', '/reviews', review, { as: buyer, status: 201 })
      await ask('POST', '/reviews', review, { as: buyer, status: 409 })
      const reply = { body: 'شكراً لك' }
      await ask('POST', `/reviews/${body.id}/reply`, reply, { as: owner })
      const read = await ask('GET', `/reviews?identityId=${company}`, undefined, { as: {} })
      must(read.body.average === 5 && read.body.count === 1, 'one review of 5 was to be counted')
      const leads = await ask('GET', '/company/leads', undefined, { as: owner })
      must(leads.body.items[0]?.property.id === offered, 'the contact was to be a lead')
      await ask('GET', '/company/stats', undefined, { as: owner })
    },
  )
}
