import type { Page } from '../main.ts'
import { client } from '../service.ts'
import { cardOf, favoriteButton, fill, html } from '../ui.ts'

export const favoritesPage: Page = async (into, signal) => {
  const cards = html`<div class="cards"></div>`
  into.append(html`<h2>المفضلة</h2>`, cards)
  const pages = client.list('/favorites', { query: { limit: 12 }, signal }).pages()
  await fill(cards, pages, async (item) => item.status !== 'unavailable'
    ? await cardOf(item)
    : html`<div class="card gone">${favoriteButton(item.id, true)}
      <div class="about"><h3>${item.titleAr ?? 'إعلان'}</h3><p>لم يعد معروضاً</p></div></div>`,
  'لم تحفظ إعلاناً بعد: اضغط على القلب في أي إعلان')
}
