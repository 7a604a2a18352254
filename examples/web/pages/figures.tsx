// The daily activity of an own listing, and how its price compares with similar listings.
import { client, dayOf, dinars, go, isArabic, Loaded, number, type Place, t, Title, titled, to, useLoad } from '../app.ts'
import { Chart, Scale } from '../charts.tsx'

const choices = [7, 30, 90] as const

export function Figures({ id, query }: Place) {
  const days = choices.find((one) => `${one}` === query.get('days')) ?? 30
  const loaded = useLoad((signal) => Promise.all([
    client.get('/properties/{id}', { path: { id }, signal }),
    client.get('/properties/{id}/insights', { path: { id }, query: { days }, signal }),
  ]), [days])
  return <>
    <Title text={t('figures')}><div class='line' role='group' aria-label={t('days')}>{choices.map((one) =>
      <button key={one} type='button' class='chip' aria-pressed={one === days} onClick={() => go(to(`figures/${id}`, { days: one }), true)}>
        {t(`days${one}`)}</button>)}</div></Title>
    <Loaded of={loaded}>{([listing, { days, totals, market }]) => {
      const points = days.map(({ day }) => dayOf(day))
      const chart = (name: 'views' | 'contacts' | 'favorites') => <div class='panel'><Chart title={t(name)} points={points}
        series={[{ name: t(name), of: days.map((one) => one[name]) }]} said={t('inAll', { n: totals[name] })} show={number} rtl={isArabic}
        words={{ point: t('day'), table: t('asTable') }} /></div>
      return <>
        <p><a href={to(`listing/${id}`)}>{titled(listing)}</a></p>
        <div class='charts'>{chart('views')}{chart('contacts')}{chart('favorites')}
          <div class='panel'><b>{t('amongOthers')}</b>
            {market === null ? <p>{t('tooFewLikeIt')}</p> : <>
              {market.percentile !== null && <Scale percent={market.percentile} rtl={isArabic} ends={[t('cheapest'), t('dearest')]}
                said={t('dearerThan', { percent: market.percentile, n: market.listings })} />}
              <dl>{([['listed', market.listings, number], ['median', market.medianPrice, dinars], ['perSquareMetre', market.medianPricePerM2, dinars]] as const)
                .map(([name, value, show]) => value !== null && <div key={name}><dt>{t(name)}</dt><dd>{show(value)}</dd></div>)}</dl></>}</div>
        </div>
      </>
    }}</Loaded>
  </>
}
