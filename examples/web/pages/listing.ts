import type { Page } from '../main.ts'
import { client, me, words } from '../service.ts'
import { cardOf, dayOf, favoriteButton, html, number, press } from '../ui.ts'

export const listingPage: Page = async (into, signal, id) => {
  const path = { path: { id } }
  const [listing, kinds, amenities] = await Promise.all([
    client.get('/properties/{id}', { ...path, signal }),
    words('kind'),
    words('amenity'),
  ])
  if ('available' in listing) return void into.append(html`<p class="none">لم يعد معروضاً</p>`)
  const { owner } = listing
  const facts: [string, string | number | null | false | undefined][] = [
    ['النوع', kinds.get(listing.kind ?? '')],
    ['مساحة الأرض', listing.landAreaM2 && `${number(listing.landAreaM2)} م²`],
    ['مساحة البناء', listing.builtAreaM2 && `${number(listing.builtAreaM2)} م²`],
    ['غرف النوم', listing.bedrooms],
    ['الحمامات', listing.bathrooms],
    ['سنة البناء', listing.buildingYear],
    ['رقم الإعلان', listing.refNo],
    ['نُشر', listing.publishedAt && dayOf(listing.publishedAt)],
  ]
  // Only people who are signed in get a number, and only on request, of which the owner is notified.
  const contact = (kind: 'call' | 'whatsapp') => async () => {
    const given = await client.post('/properties/{id}/contact', { ...path, body: { kind } })
    open(given.whatsappUrl ?? `tel:${given.phone}`)
  }
  const talk = async () => {
    const conversation = await client.post('/conversations', { body: { propertyId: id } })
    location.hash = `#/chat/${conversation.id}`
  }
  const isMine = owner.identityId === me()?.activeIdentity?.id
  into.append(html`<article>
    <div class="gallery">${listing.media.map(({ url, width, height }) =>
      html`<img src="${url}" width="${width}" height="${height}" alt="">`)}</div>
    <div class="line"><strong>${listing.priceLabel}</strong>${favoriteButton(id, listing.isFavorite)}</div>
    <h1>${listing.titleAr}</h1>
    <p>${listing.descriptionAr}</p>
    <dl>${facts.filter(([, fact]) => fact).map(([name, fact]) =>
      html`<div><dt>${name}</dt><dd>${fact}</dd></div>`)}</dl>
    <div class="chips">${listing.amenities.map((code) =>
      html`<span class="chip">${amenities.get(code) ?? code}</span>`)}</div>
    <div class="line">${owner.avatarUrl ? html`<img class="face" src="${owner.avatarUrl}" alt="">` : ''}
      <span>${owner.displayName} ${owner.verified && '✓ موثّق'}</span></div>
    <div class="line" ${isMine && 'hidden'}>
      <button ${!listing.allowChat && 'hidden'} @click=${press(talk)}>محادثة</button>
      <button class="second" ${!listing.allowCall && 'hidden'} @click=${press(contact('call'))}>اتصال</button>
      <button class="second" ${!listing.allowWhatsapp && 'hidden'} @click=${press(contact('whatsapp'))}>واتساب</button>
    </div></article>`)
  const { items } = await client.get('/properties/{id}/similar', { ...path, signal })
  const similar = await Promise.all(items.map(cardOf))
  if (similar.length) into.append(html`<h2>إعلانات مشابهة</h2>`, html`<div class="cards">${similar}</div>`)
}
