// The user and the identity to act as: oneself, or a company or office, which has its own figures and leads.
import { actAs, Button, changeLanguage, client, clockOf, dayOf, Face, List, Loaded, me } from '../app.ts'
import { None, number, type Schemas, t, type Text, Title, to, useLoad, usePages, word } from '../app.ts'

export function Account() {
  const account = useLoad((signal) => client.get('/auth/me', { signal }))
  return <>
    <Title text={t('account')} />
    <Loaded of={account}>{({ user, identities }) => <>
      <p>{user.fullName} <bdi dir='ltr'>{user.phone ?? user.email}</bdi></p>
      <h2>{t('actingAs')}</h2>
      <div class='list'>{identities.map((one) => <div class='row' key={one.id}>
        <Face of={one} /><div class='about'><strong>{one.displayName}</strong>
          <p>{word('identityType', one.type)} · {word('identityStatus', one.status)}</p></div>
        {one.id === me()?.id ? <span class='tag active'>{t('actsNow')}</span>
          : one.status === 'active' && <Button second onClick={() => actAs(one.id)}>{t('actAs')}</Button>}</div>)}</div>
    </>}</Loaded>
    {me()!.type !== 'individual' && <Office type={me()!.type as 'company' | 'office'} />}
    <div class='line'>{(['leads', 'plans', 'mine'] as const).map((page) => <a key={page} class='button second' href={to(page)}>{t(page)}</a>)}</div>
    <h2>{t('settings')}</h2>
    <div class='line'><Button second onClick={changeLanguage}>{t('otherLanguage')}</Button>
      <Button class='plain' onClick={() => client.auth.signOut()}>{t('signOut')}</Button></div>
  </>
}

function Office({ type }: { type: 'company' | 'office' }) {
  const stats = useLoad((signal): Promise<Schemas['OrganisationStats']> =>
    type === 'office' ? client.get('/office/stats', { signal }) : client.get('/company/stats', { signal }))
  const count = (name: Text, value: number | null) => value !== null && <div key={name}><dt>{t(name)}</dt><dd>{number(value)}</dd></div>
  return <section><h2>{t('ofLast30Days')}</h2><Loaded of={stats}>{({ last30Days, activeListings, medianResponseMinutes }) => <dl class='panel'>
    {count('listed', activeListings)}{count('views', last30Days.views)}{count('favorites', last30Days.favorites)}
    {count('contacts', last30Days.contacts)}{count('responseMinutes', medianResponseMinutes)}</dl>}</Loaded></section>
}

export function Leads() {
  const leads = usePages((page, signal) => client.get('/leads', { query: { ...page, limit: 20 }, signal }))
  return <>
    <Title text={t('leads')} />
    <List of={leads} none={<None icon='account'>{t('noLeads')}</None>}>{(one) => <a class='row' key={one.id} href={to(`listing/${one.property.id}`)}>
      <Face of={one.from} />
      <span class='about'><strong>{one.from.displayName}</strong><span>{word('contactKind', one.kind)} · {one.property.titleAr}</span></span>
      <small>{dayOf(one.createdAt)} {clockOf(one.createdAt)}</small></a>}</List>
  </>
}
