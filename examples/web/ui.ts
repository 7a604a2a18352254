import { isApiError } from 'kuwait-property-client'
import { allAreas, type Card, client, me } from './service.ts'

type Value = string | number | false | null | undefined | Node | Node[] | ((event: Event) => unknown)

export const escape = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Makes html`<b @click=${act}>${text}</b>`: escapes texts, inserts nodes, attaches listeners. */
export function html(parts: TemplateStringsArray, ...values: Value[]): HTMLElement {
  const template = document.createElement('template')
  template.innerHTML = parts.map((part, i) => {
    const value = values[i]
    if (typeof value === 'object' && value) return `${part}<i data-node="${i}"></i>`
    if (typeof value === 'function') return `${part}"${i}"`
    return part + (value || value === 0 ? escape(String(value)) : '')
  }).join('').trim()
  for (const mark of template.content.querySelectorAll('[data-node]')) {
    mark.replaceWith(...[values[Number((mark as HTMLElement).dataset.node)] as Node[]].flat())
  }
  for (const element of template.content.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes].filter(({ name }) => name[0] === '@')) {
      element.addEventListener(name.slice(1), values[Number(value)] as EventListener)
      element.removeAttribute(name)
    }
  }
  return template.content.firstElementChild as HTMLElement
}

export const number = (value: number) => value.toLocaleString('en')
export const dinars = (value: number) => `${number(value)} د.ك`
const locale = 'ar-KW-u-nu-latn'
export const dayOf = (time: string) =>
  new Date(time).toLocaleDateString(locale, { day: 'numeric', month: 'long' })
export const clockOf = (time: string) =>
  new Date(time).toLocaleTimeString(locale, { timeStyle: 'short' })

export function say(text: string) {
  const toast = html`<p class="toast" role="status">${text}</p>`
  document.body.append(toast)
  setTimeout(() => toast.remove(), 5000)
}

/** Shows why something failed. The service's errors have a message for users, in Arabic. */
export function explain(error: unknown) {
  if (error instanceof Error && error.name === 'AbortError') return // somebody left the page or asked again
  if (!isApiError(error)) throw error
  if (error.code === 'token_missing') location.hash = '#/sign-in'
  say(error.code === 'connection' ? 'لا يوجد اتصال، حاول مرة أخرى' : error.message)
}

/** Makes the handler of a button, which takes one press at a time and shows errors. */
export const press = (act: () => Promise<unknown>) => async (event: Event) => {
  event.preventDefault() // the button may be inside a link or a form
  const button = event.currentTarget as HTMLElement
  button.setAttribute('disabled', '')
  await act().catch(explain)
  button.removeAttribute('disabled')
}

export const submit = (act: () => Promise<unknown>) => (event: Event) => {
  event.preventDefault()
  act().catch(explain)
}

/** Makes signals of which only the newest is not aborted, so that an answer that comes late is not drawn. */
export function onlyLatest(page: AbortSignal): () => AbortSignal {
  let latest = new AbortController()
  return () => {
    latest.abort()
    latest = new AbortController()
    return AbortSignal.any([page, latest.signal])
  }
}

export function favoriteButton(id: string, isFavorite: boolean): HTMLElement {
  const button = html`<button class="heart" title="المفضلة" aria-pressed="${String(isFavorite)}"
    @click=${press(async () => {
      if (!me()) return void (location.hash = '#/sign-in')
      const now = await client.post('/favorites/{propertyId}', { path: { propertyId: id } })
      button.setAttribute('aria-pressed', String(now.isFavorite))
    })}><svg viewBox="0 0 24 24"><use href="#favorites"/></svg></button>`
  return button
}

export async function cardOf(card: Card): Promise<HTMLElement> {
  const size = card.landAreaM2 ?? card.builtAreaM2
  const facts = [
    (await allAreas()).get(card.areaId ?? '')?.nameAr,
    card.bedrooms && `غرف النوم ${card.bedrooms}`,
    size && `${number(size)} م²`,
  ]
  return html`<a class="card" href="#/listing/${card.id}">
    ${card.picture ? html`<img class="cover" src="${card.picture.url}" alt="" loading="lazy">`
      : html`<div class="cover">بلا صورة</div>`}
    ${favoriteButton(card.id, card.isFavorite)}
    <div class="about"><strong>${card.priceLabel}</strong>
      ${card.dropPct ? html`<span class="drop">انخفض ${number(card.dropPct)}٪</span>` : ''}
      <h3>${card.titleAr}</h3><p>${facts.filter(Boolean).join(' · ')}</p></div></a>`
}

type Page = { items: unknown[]; nextCursor: string | null }

/** Fills an element page by page, with a button for the next one. */
export async function fill<P extends Page>(
  into: HTMLElement, pages: AsyncIterator<P>, draw: (item: P['items'][number], index: number, page: P) => Promise<Node>,
  none: string, first?: P,
): Promise<void> {
  const page: P | undefined = first ?? (await pages.next()).value
  into.append(...await Promise.all((page?.items ?? []).map((item, index) => draw(item, index, page!))))
  if (!into.childElementCount) into.append(html`<p class="none">${none}</p>`)
  if (!page?.nextCursor) return
  const more = html`<button class="more" @click=${press(async () => {
      await fill(into, pages, draw, none)
      more.remove()
    })}>عرض المزيد</button>`
  into.append(more)
}
