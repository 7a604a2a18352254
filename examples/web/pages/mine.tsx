// All listings of the acting identity, with the actions of each state (docs/contract/properties.md, States).
import { Button, client, dayOf, go, List, None, picture, type Place, type Property } from '../app.ts'
import { Select, t, Title, titled, to, usePages, word } from '../app.ts'
import { optionsOf } from './filters.tsx'

type Act = 'publish' | 'pause' | 'resume' | 'renew' | 'archive' | 'restore' | 'mark-sold' | 'mark-rented' | 'mark-exchanged'
const closing = { SALE: 'mark-sold', RENT: 'mark-rented', EXCHANGE: 'mark-exchanged' } as const

function actsOf({ status, type, expiresAt }: Property): Act[] {
  const close = closing[type]
  if (status === 'draft' || status === 'rejected') return ['publish', 'archive']
  if (status === 'active') return [...Date.parse(expiresAt!) - Date.now() < 7 * 86_400_000 ? ['renew' as const] : [], 'pause', close]
  if (status === 'paused') return ['resume', close]
  if (status === 'expired') return ['renew', close]
  return status === 'archived' ? ['restore'] : ['sold', 'rented', 'exchanged'].includes(status) ? ['archive'] : []
}

export function Mine({ query }: Place) {
  const status = query.get('status') as Property['status'] | null
  const own = usePages((page, signal) =>
    client.get('/properties/mine', { query: { ...page, limit: 20, ...status && { status } }, signal }), [status])
  const shown = optionsOf('listingStatus').filter(([code]) => !['deleted', 'unavailable'].includes(code))
  return <>
    <Title text={t('mine')}><a class='button' href={to('publish')}>{t('publish')}</a></Title>
    <div class='bar'><Select label={t('status')} name='status' value={status} options={[['', t('any')], ...shown]}
      onChange={(status) => go(to('mine', { status }))} /></div>
    <List of={own} none={<None icon='mine'>{t('noListings')} <a class='button' href={to('publish')}>{t('publish')}</a></None>}>
      {(one) => <Own key={`${one.id} ${one.version}`} of={one} changed={own.reload} />}</List>
  </>
}

function Own({ of: listing, changed }: { of: Property; changed: () => void }) {
  const { id, status, media: [cover], viewsCount, favoritesCount, expiresAt, statusReason } = listing
  const path = { path: { id } }
  const act = (name: Act) => () => client.post(`/properties/{id}/${name}`, path).finally(changed)
  const remove = () => confirm(t('surelyDelete')) && client.delete('/properties/{id}', path).then(changed)
  return <div class='row own'>
    {cover ? <img class='thumb' src={picture(320, cover.url)} alt='' loading='lazy' /> : <span class='thumb' />}
    <div class='about'><a href={to(`listing/${id}`)}>{titled(listing)}</a>
      <p><strong>{listing.priceLabel}</strong></p>
      <p>{t('viewsAndFavorites', { views: viewsCount, favorites: favoritesCount })}
        {status === 'active' && expiresAt && ` ${t('until', { day: dayOf(expiresAt) })}`}</p>
      {statusReason && <p class='wrong'>{statusReason}</p>}</div>
    <span class={`tag ${status}`}>{word('listingStatus', status)}</span>
    <div class='line'>
      {!['suspended', 'archived'].includes(status) && <a class='button second' href={to(`publish/${id}`)}>{t('edit')}</a>}
      {listing.publishedAt && <a class='button second' href={to(`figures/${id}`)}>{t('figures')}</a>}
      {actsOf(listing).map((name) => <Button key={name} second onClick={act(name)}>{t(name === 'publish' ? 'publishNow' : name)}</Button>)}
      {['draft', 'archived', 'rejected'].includes(status) && <Button class='plain' onClick={remove}>{t('delete')}</Button>}
    </div>
  </div>
}
