import { areaName, Button, CardOf, client, dayOf, Dialog, dinars, Face, go, Heart, isArabic, Loaded, me, monthOf } from '../app.ts'
import { None, number, picture, type Place, type Property, type Schemas, t, Title, titled, to, useLoad, useState, word } from '../app.ts'
import { Chart } from '../charts.tsx'

export function Listing({ id }: Place) {
  const listing = useLoad((signal) => client.get('/properties/{id}', { path: { id }, signal }))
  return <>{!listing.value && <Title text={t('listing')} />}<Loaded of={listing}>{(found) =>
    'available' in found ? <><Title text={found.titleAr ?? t('listing')} /><None icon='gone'>{t('notOffered')}</None></> : <>
      <Whole of={found} />
      <Prices of={found} />
      <Similar id={id} />
    </>}</Loaded></>
}

function Whole({ of: listing }: { of: Property }) {
  const { id, owner } = listing
  const path = { path: { id } }
  const facts: [string, string | number | null | false | undefined][] = [
    [t('kind'), word('kind', listing.kind)], [t('area'), areaName(listing.areaId)],
    [t('landArea'), listing.landAreaM2 && number(listing.landAreaM2)], [t('builtArea'), listing.builtAreaM2 && number(listing.builtAreaM2)],
    [t('bedrooms'), listing.bedrooms], [t('bathrooms'), listing.bathrooms],
    [t('furnishing'), word('furnished', listing.furnished)], [t('buildingYear'), listing.buildingYear],
    [t('refNo'), listing.refNo], [t('published'), listing.publishedAt && dayOf(listing.publishedAt)],
  ]
  // Only signed-in users can request the phone number, and each request notifies the owner.
  const contact = (kind: 'call' | 'whatsapp') => async () => {
    const given = await client.post('/properties/{id}/contact', { ...path, body: { kind } })
    open(given.whatsappUrl ?? `tel:${given.phone}`)
  }
  const talk = async () => go(to(`chat/${(await client.post('/conversations', { body: { propertyId: id } })).id}`))
  const { allowChat, allowCall, allowWhatsapp } = listing
  const ways = [['chat', allowChat, talk], ['call', allowCall, contact('call')], ['whatsapp', allowWhatsapp, contact('whatsapp')]] as const
  const isMine = owner.identityId === me()?.id
  return <article class='whole'>
    <Gallery of={listing.media} />
    <Title text={titled(listing)}><Heart id={id} on={listing.isFavorite} title={titled(listing)} /></Title>
    <p class='line'><strong>{listing.priceLabel}</strong> {listing.status !== 'active' && <span class='drop'>{word('listingStatus', listing.status)}</span>}</p>
    <p class='text' dir='auto'>{(!isArabic && listing.descriptionEn) || listing.descriptionAr}</p>
    <dl>{facts.map(([name, fact]) => fact ? <div key={name}><dt>{name}</dt><dd>{fact}</dd></div> : null)}</dl>
    <ul class='chips' aria-label={t('amenity')}>{listing.amenities.map((code) => <li key={code} class='tag'>{word('amenity', code)}</li>)}</ul>
    <a class='line' href={to('search', { ownerId: owner.identityId })}><Face of={owner} />
      <span>{owner.displayName} {owner.verified && t('verified')}</span></a>
    <div class='line'>{isMine
      ? <><a class='button' href={to(`publish/${id}`)}>{t('edit')}</a><a class='button second' href={to(`figures/${id}`)}>{t('figures')}</a></>
      : ways.map(([kind, isOpen, act], nth) => isOpen && <Button key={kind} second={nth > 0}
        onClick={() => me() ? act() : go(to('sign-in', { to: location.hash }))}>{word('contactKind', kind)}</Button>)}</div>
  </article>
}

/** Pictures. A click enlarges one, and the arrow keys then switch between them. */
function Gallery({ of: media }: { of: Property['media'] }) {
  const [shown, show] = useState<number>()
  const name = (at: number) => t('pictureOf', { n: at + 1, all: media.length })
  const move = (by: number) => show((shown! + by + media.length) % media.length)
  const forth = isArabic ? 'ArrowLeft' : 'ArrowRight'
  if (!media.length) return <div class='cover'>{t('noPicture')}</div>
  const button = (by: number, text: 'previous' | 'next', sign: string) =>
    <button type='button' class='second' aria-label={t(text)} onClick={() => move(by)}>{sign}</button>
  return <>
    <ul class='gallery' aria-label={t('pictures')}>{media.map(({ id, url, width, height }, at) => <li key={id}>
      <button type='button' aria-label={t('enlarge', { what: name(at) })} onClick={() => show(at)}>
        <img src={picture(640, url)} width={width} height={height} alt='' loading={at ? 'lazy' : 'eager'} /></button></li>)}</ul>
    {shown !== undefined && <Dialog wide title={name(shown)} onClose={() => show(undefined)}
      onKey={(key) => /Left|Right/.test(key) && move(key === forth ? 1 : -1)}>
      <img class='large' src={picture(1920, media[shown]!.url)} alt={name(shown)} />
      {media.length > 1 && <div class='line'>{button(-1, 'previous', isArabic ? '›' : '‹')}{button(1, 'next', isArabic ? '‹' : '›')}</div>}
    </Dialog>}
  </>
}

/** The price history of the listing, and the monthly prices of similar listings in the area. */
function Prices({ of: { id, type, kind, areaId, price } }: { of: Property }) {
  const prices = useLoad((signal) => client.get('/properties/{id}/price-history', { path: { id }, query: { limit: 50 }, signal }))
  const changes = [...prices.value?.items ?? []].reverse()
  const times = changes.map(({ changedAt }) => Date.parse(changedAt))
  return <section class='charts' aria-label={t('prices')}>
    <Loaded of={prices}>{() => changes.length < 2 ? null : <div class='panel'>
      <Chart form='steps' rtl={isArabic} title={t('priceOverTime')} show={dinars} points={changes.map(({ changedAt }) => dayOf(changedAt))}
        places={times.map((time) => (time - times[0]!) / (Date.now() - times[0]!))} series={[{ name: t('price'), of: changes.map(({ price }) => price) }]}
        said={t('changedTimes', { n: changes.length - 1 })} words={{ point: t('since'), table: t('asTable') }} /></div>}</Loaded>
    {kind && areaId && type !== 'EXCHANGE' && <AreaHistory areaId={areaId} type={type} kind={kind} own={price} />}
  </section>
}

type HistoryProps = { areaId: string; type: 'SALE' | 'RENT'; kind: string; own?: number | null }
export function AreaHistory({ areaId, type, kind, own }: HistoryProps) {
  const history = useLoad((signal) =>
    client.get('/map/areas/{areaId}/history', { path: { areaId }, query: { type, kind }, signal }), [areaId, type, kind])
  return <div class='panel'><Loaded of={history}>{({ items }) => {
    const months = [...items].reverse()
    const newest = months.findLast(({ medianPrice }) => medianPrice !== null)
    const title = t('areaPrices', { kind: word('kind', kind), type: word('listingType', type), area: areaName(areaId) })
    if (!newest) return <><b>{title}</b><p>{t('tooFew')}</p></>
    return <Chart form='line' rtl={isArabic} title={title} show={dinars} points={months.map(({ month }) => monthOf(month))}
      series={[{ name: t('median'), of: months.map(({ medianPrice }) => medianPrice) }]}
      more={[{ name: t('perSquareMetre'), of: months.map(({ medianPricePerM2 }) => medianPricePerM2) }]}
      {...own ? { level: { name: t('thisOne'), value: own } } : {}}
      said={said(newest, own)} words={{ point: t('month'), table: t('asTable') }} />
  }}</Loaded></div>
}
function said({ medianPrice, month }: Schemas['MonthOfPrices'], own?: number | null): string {
  const median = t('medianOf', { price: dinars(medianPrice!), month: monthOf(month) })
  if (!own) return median
  const percent = Math.round((own / medianPrice! - 1) * 100)
  const than = percent === 0 ? t('asMedian') : t(percent > 0 ? 'aboveMedian' : 'belowMedian', { n: number(Math.abs(percent)) })
  return `${median}${t('comma')}${than}`
}

function Similar({ id }: { id: string }) {
  const similar = useLoad((signal) => client.get('/properties/{id}/similar', { path: { id }, signal }))
  return <Loaded of={similar}>{({ items }) => items.length ? <section>
    <h2>{t('similar')}</h2><div class='cards'>{items.map((card) => <CardOf key={card.id} card={card} />)}</div>
  </section> : null}</Loaded>
}
