// Shows one page at a time, by the part of the address after #. Each file of pages/ can be read by itself.
import { client, followSession, me } from './service.ts'
import { explain, html } from './ui.ts'
import { chatPage, chatsPage } from './pages/chat.ts'
import { favoritesPage } from './pages/favorites.ts'
import { listingPage } from './pages/listing.ts'
import { mapPage } from './pages/map.ts'
import { plansPage } from './pages/plans.ts'
import { publishPage } from './pages/publish.ts'
import { searchPage } from './pages/search.ts'
import { signInPage } from './pages/sign-in.ts'

/** Draws the page. `screen` is aborted, and its requests with it, when the person leaves the page. */
export type Page = (into: HTMLElement, screen: AbortSignal, id: string) => Promise<void>

const pages: Record<string, { page: Page; title?: string; personal?: true }> = {
  search: { page: searchPage, title: 'البحث' },
  map: { page: mapPage, title: 'الخريطة' },
  favorites: { page: favoritesPage, title: 'المفضلة', personal: true },
  chats: { page: chatsPage, title: 'المحادثات', personal: true },
  publish: { page: publishPage, title: 'أعلن', personal: true },
  plans: { page: plansPage, title: 'الباقات', personal: true },
  chat: { page: chatPage, personal: true },
  listing: { page: listingPage },
  'sign-in': { page: signInPage },
}

let screen = new AbortController()

async function show() {
  screen.abort()
  screen = new AbortController()
  const [given = '', id = ''] = location.hash.replace('#/', '').split('/')
  const name = given in pages ? given : 'search'
  const { page, personal } = pages[name]!
  if (personal && !me()) return void (location.hash = '#/sign-in')
  document.querySelector('header')!.replaceWith(header(name))
  const main = html`<main class="${name}"></main>`
  document.querySelector('main')!.replaceWith(main)
  scrollTo(0, 0)
  await page(main, screen.signal, id).catch(explain)
}

const header = (here: string) => html`<header><a class="brand" href="#/search">دارنا</a>
  <nav>${Object.entries(pages).filter(([, { title }]) => title).map(([name, { title }]) =>
    html`<a href="#/${name}" ${name === here && 'aria-current'}>
      <svg viewBox="0 0 24 24"><use href="#${name}"/></svg>${title}</a>`)}</nav>
  ${me() ? html`<button class="plain" @click=${() => client.auth.signOut()}>خروج</button>`
    : html`<a class="plain" href="#/sign-in">دخول</a>`}</header>`

addEventListener('hashchange', () => void show())
// Another tab may sign in or out too. Everything is drawn again then.
void followSession(() => void show()).then(show)
