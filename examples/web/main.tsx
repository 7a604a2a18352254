// Shows the page that the URL names. Each file in pages/ can be read independently of the others.
import { type ComponentType, render } from 'preact'
import { changeLanguage, Face, followAddress, followSession, here, Icon, isArabic, Loaded, loadMeta, me } from './app.ts'
import { type Place, t, type Text, Title, to, useEffect, useLoad, useRef } from './app.ts'
import { Account, Leads } from './pages/account.tsx'
import { Chat, Chats } from './pages/chat.tsx'
import { Favorites } from './pages/favorites.tsx'
import { Figures } from './pages/figures.tsx'
import { Listing } from './pages/listing.tsx'
import { MapPage } from './pages/map.tsx'
import { Mine } from './pages/mine.tsx'
import { Notifications, useUnread } from './pages/notifications.tsx'
import { Plans } from './pages/plans.tsx'
import { Publish } from './pages/publish.tsx'
import { Search } from './pages/search.tsx'
import { SignIn } from './pages/sign-in.tsx'

const open: Record<string, ComponentType<Place>> = { search: Search, map: MapPage, listing: Listing, 'sign-in': SignIn }
const personal: typeof open = {
  favorites: Favorites, chats: Chats, mine: Mine, chat: Chat, publish: Publish, figures: Figures, notifications: Notifications,
  plans: Plans, account: Account, leads: Leads,
}
const tabs = ['search', 'map', 'favorites', 'chats', 'mine'] as const
const nameOf = ({ page }: Place) => (page in open || page in personal ? page : 'search') as Text

function App({ place }: { place: Place }) {
  const name = nameOf(place)
  // Personal pages show the sign-in page until somebody has signed in.
  const Shown = open[name] ?? (me() ? personal[name]! : SignIn)
  const meta = useLoad(loadMeta)
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current) main.current!.focus({ preventScroll: true }) // for screen readers
    isFirst.current = false
  }, [name, place.id])
  return <>
    <a class='skip' href='#main' onClick={(event) => (event.preventDefault(), main.current!.focus())}>{t('skip')}</a>
    <Header name={name} key={me()?.id} />
    <main id='main' ref={main} class={name} tabIndex={-1}>
      {!meta.value && <Title text={t(name)} />}
      <Loaded of={meta}>{() => <Shown key={`${name} ${place.id} ${me()?.id}`} {...place} />}</Loaded>
    </main>
  </>
}

function Header({ name }: { name: string }) {
  const unread = useUnread()
  return <header>
    <a class='brand' href={to('search')}>{t('brand')}</a>
    <nav>{tabs.map((tab) => <a key={tab} href={to(tab)} aria-current={tab === name ? 'page' : undefined}>
      <Icon name={tab} /><span>{t(tab)}</span></a>)}</nav>
    {me() ? <>
      <a class='bell' href={to('notifications')} aria-label={t('unread', { n: unread })}><Icon name='notifications' />{unread > 0 && <b>{unread}</b>}</a>
      <a class='who' href={to('account')} title={t('account')}><Face of={me()!} /><span>{me()!.displayName}</span></a>
    </> : <>
      <button type='button' class='plain' lang={isArabic ? 'en' : 'ar'} onClick={changeLanguage}>{t('otherLanguage')}</button>
      <a class='button second' href={to('sign-in')}>{t('signIn')}</a></>}
  </header>
}

function draw() {
  const place = here()
  document.title = `${t(nameOf(place))} · ${t('brand')}` // pages may set a longer title
  render(<App place={place} />, document.getElementById('app')!)
}
followAddress(draw)
// Another tab may also sign in or out. Then everything is rendered again.
await followSession(draw)
draw()
