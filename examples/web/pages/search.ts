// The search box, with suggestions in a list under it. The text is sent as typed, and the filters that the service
// reads in it (`understood.found`) are shown as chips. If one is removed, the others become filters of the next search,
// beside the remaining words. Facets and their counts offer ways to narrow the search.
import { type Schemas, whileTyping } from 'kuwait-property-client'
import type { Page } from '../main.ts'
import { allAreas, client, words } from '../service.ts'
import { cardOf, explain, fill, html, number, onlyLatest, submit } from '../ui.ts'

const examples = ['شقة للإيجار في السالمية', 'بيت للبيع ٤٠٠ متر', 'شاليه مع مسبح', 'مكتب أقل من ٥٠٠ دينار']

const unmet: Record<string, string> = {
  words: 'الكلمات', kinds: 'نوع العقار', areaIds: 'المنطقة', near: 'الموقع', priceMin: 'السعر', priceMax: 'السعر', bedroomsMin: 'الغرف' }

export const searchPage: Page = async (into, page) => {
  const nextSignal = onlyLatest(page)
  let taken: Schemas['UnderstoodItem'][] = [] // chips that have become filters
  let sort: Schemas['Understood']['sort'] = null // asked for by a word, and kept with the other chips
  const box = html`<input type="search" enterkeyhint="search" aria-label="البحث"
    placeholder="مثلاً: شقة للإيجار في السالمية ٣ غرف">` as HTMLInputElement
  const list = html`<ul hidden @pointerdown=${(event: Event) => event.preventDefault()}></ul>` // the box keeps the focus
  const chips = html`<div class="chips"></div>`
  const heading = html`<h2></h2>`
  const choices = html`<div class="chips"></div>`
  const results = html`<div class="cards"></div>`
  const search = async (text: string, filters: typeof taken = []) => {
    box.value = text
    box.blur()
    taken = filters
    sort = null
    await run()
  }
  const suggest = whileTyping((q, signal) =>
    client.get('/search/suggest', { query: { q }, signal: AbortSignal.any([page, signal]) }))
  box.onblur = () => (list.hidden = true)
  box.oninput = async () => {
    const answer = await suggest(box.value).catch(explain)
    if (!answer || document.activeElement !== box) return
    list.hidden = !answer.items.length
    list.replaceChildren(...answer.items.map(({ text, count, filters: { q, strategy, near, ...filters } }) =>
      html`<li><button type="button" @click=${() => {
        const point = near && { near: [near.lat, near.lng, near.km] }
        const chosen = Object.entries({ ...filters, ...point }).map(([field, value]) => ({ field, value: String(value), text }))
        // This page has only the strategy standard.
        ;(q || strategy ? search(q ?? text) : search('', chosen)).catch(explain)
      }}>${text} ${count === null ? '' : html`<small>${number(count)}</small>`}</button></li>`))
  }
  into.append(
    html`<form class="search" @submit=${submit(() => search(box.value))}><div>${box}${list}</div><button>بحث</button></form>`,
    chips, heading, choices, results,
  )

  async function run() {
    const signal = nextSignal()
    const q = box.value.trim()
    const query: object = { ...Object.fromEntries(taken.map(({ field, value }) => [field, value])), ...q && { q } }
    const pages = client.list('/search', { query: { ...query, ...sort && { sort }, limit: 12 }, signal }).pages()
    const first = (await pages.next()).value
    drawChips(first.understood)
    results.replaceChildren()
    choices.replaceChildren()
    heading.textContent = ''
    await fill(results, pages, async (card, index, { similar, similarFrom }: Schemas['SearchPage']) => {
      const drawn = await cardOf(card)
      drawn.classList.toggle('similar', index >= (similarFrom ?? Infinity))
      const changed = similar.find(({ from }) => from === index)?.changed.map((field) => unmet[field] ?? 'التفاصيل')
      if (changed) drawn.prepend(html`<p class="differs">إعلانات مشابهة، تختلف في: ${[...new Set(changed)].join('، ')}</p>`)
      return drawn
    }, whyNone(first.understood), first)
    const by = 'kinds,areaIds,bedrooms'
    const { count, capped, facets = {} } = await client.get('/search/count', { query: { ...query, by }, signal })
    if (count !== null) heading.textContent = `الإعلانات: ${capped ? 'أكثر من ' : ''}${number(count)}`
    const [kinds, areas] = [await words('kind'), await allAreas()]
    choices.replaceChildren(
      ...choose('kinds', facets.kinds, (code) => kinds.get(code)),
      ...choose('areaIds', facets.areaIds, (code) => areas.get(code)?.nameAr),
      ...choose('bedroomsMin', facets.bedrooms, (rooms) => `غرف النوم ${rooms} أو أكثر`),
    )
  }

  type Count<Value> = { value: Value; count: number }
  function choose<Value>(field: string, counts: Count<Value>[] | null | undefined, nameOf: (value: Value) => string | undefined) {
    if (!counts || counts.length < 2) return []
    return counts.slice(0, 4).map(({ value, count }) => html`<button class="try" @click=${() => {
      const chosen = { field, value: String(value), text: nameOf(value) ?? String(value) }
      taken = [...taken.filter((chip) => chip.field !== field), chosen]
      run().catch(explain)
    }}>${nameOf(value)} <b>${number(count)}</b></button>`)
  }

  function drawChips(understood: Schemas['Understood']) {
    const all = [...taken, ...understood?.found ?? []]
    // One phrase may be two filters: «٤٠٠ متر» is a minimum and a maximum.
    const said = new Map(all.map((chip) => [chip.text, chip]))
    chips.replaceChildren(
      ...[...said.values()].map((chip) => html`<button class="chip" data-field="${chip.field}" @click=${() => {
        if (understood) box.value = understood.words.join(' ')
        sort = understood?.sort ?? sort
        taken = all.filter(({ text }) => text !== chip.text)
        run().catch(explain)
      }}>${chip.text} <b>×</b></button>`),
      ...understood?.ignored.length ? [html`<small>لم يُستخدم: ${understood.ignored.join('، ')}</small>`] : [],
      ...(understood?.guessed ?? []).map(({ to }) => html`<small>هل تقصد: ${to[0]!}؟</small>`),
      ...all.length || box.value ? [] : examples.map((text) =>
        html`<button class="try" @click=${() => void search(text).catch(explain)}>${text}</button>`),
    )
  }
  await run()
}

function whyNone(understood: Schemas['Understood']): string {
  if (understood?.strategy) return 'هذا النوع من الإعلانات في قسم آخر من التطبيق'
  if (understood?.conflicts.length) return 'ما كتبته لا يتفق مع ما اخترته: احذف أحدهما'
  return 'لا توجد إعلانات مطابقة'
}
