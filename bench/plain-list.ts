/** The queue as an HTML table on a page without a framework: the baseline for the desk. */
export const plainList = (api: string) =>
  `<!doctype html><meta charset="utf-8"><title>plain</title>
<table></table>
<script>
const api = ${JSON.stringify(`${api}/admin/moderation`)}
const authorization = 'Bearer ' + location.hash.slice(1)
const cell = (text) => Object.assign(document.createElement('td'), { textContent: text ?? '' })
async function load() {
  const { items } = await (await fetch(api + location.search, { headers: { authorization } })).json()
  document.querySelector('table').replaceChildren(...items.map((item) => {
    const row = document.createElement('tr')
    const button = Object.assign(document.createElement('button'), { textContent: 'Approve' })
    button.onclick = async () => {
      const body = JSON.stringify({ decision: 'approve', version: item.version })
      const headers = { authorization, 'content-type': 'application/json' }
      await fetch(api + '/' + item.id + '/decide', { method: 'POST', headers, body })
      await load()
    }
    const { listing } = item
    row.append(cell(item.id + ' ' + listing?.titleAr), cell(listing?.priceLabel), cell(item.since), button)
    for (const { url } of (listing?.media ?? []).slice(0, 1)) {
      row.append(Object.assign(document.createElement('img'), { src: url, width: 64, loading: 'lazy' }))
    }
    return row
  }))
}
load()
</script>
`
