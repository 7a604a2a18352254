import { CardOf, client, Heart, List, None, t, Title, usePages } from '../app.ts'

export function Favorites() {
  const saved = usePages((page, signal) => client.get('/favorites', { query: { ...page, limit: 12 }, signal }))
  return <>
    <Title text={t('favorites')} />
    <List of={saved} kind='cards' none={<None icon='favorites'>{t('noFavorites')}</None>}>{(one) =>
      one.status !== 'unavailable' ? <CardOf key={one.id} card={one} /> : <article class='card gone' key={one.id}>
        <Heart id={one.id} on title={one.titleAr ?? ''} />
        <div class='about'><h2>{one.titleAr ?? t('listing')}</h2><p>{t('notOffered')}</p></div></article>}</List>
  </>
}
