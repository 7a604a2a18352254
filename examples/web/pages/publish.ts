// Pictures are uploaded while the rest of the form is filled in. The new listing then takes them over.
import { isApiError, newId, type Schemas } from 'kuwait-property-client'
import type { Page } from '../main.ts'
import { allAreas, client, words } from '../service.ts'
import { explain, html, submit } from '../ui.ts'

export const publishPage: Page = async (into) => {
  const uploadSessionId = newId()
  const [areas, kinds] = await Promise.all([allAreas(), words('kind')])
  const options = (entries: Iterable<[string, string]>) =>
    [...entries].map(([value, text]) => html`<option value="${value}">${text}</option>`)
  const types: [string, string][] = [['SALE', 'للبيع'], ['RENT', 'للإيجار']]
  const places = [...areas.values()].map(({ id, nameAr }): [string, string] => [id, nameAr])
  const files = html`<input type="file" accept="image/jpeg,image/png,image/webp" multiple
    @change=${() => void upload().catch(explain)}>` as HTMLInputElement
  const progress = html`<progress max="1" hidden></progress>` as HTMLProgressElement
  const thumbnails = html`<div class="line"></div>`
  const form = html`<form class="fields" novalidate @submit=${submit(publish)}>
    <label>العرض<select name="type">${options(types)}</select></label>
    <label>النوع<select name="kind">${options(kinds)}</select></label>
    <label>المنطقة<select name="areaId">${options(places)}</select></label>
    <label>العنوان<input name="titleAr"></label>
    <label>الوصف<textarea name="descriptionAr" rows="3"></textarea></label>
    <label>السعر بالدينار<input name="price" inputmode="decimal"></label>
    <label>المساحة بالمتر المربع<input name="landAreaM2" inputmode="decimal"></label>
    <label>الصور${files}</label>${progress}${thumbnails}
    <button>نشر الإعلان</button></form>` as HTMLFormElement
  into.append(html`<h2>أضف إعلاناً</h2>`, form)

  async function upload() {
    progress.hidden = false
    const { files: stored } = await client.upload.pictures([...files.files!], {
      uploadSessionId,
      onProgress: (part) => (progress.value = part),
    }).finally(() => (progress.hidden = true))
    thumbnails.append(...stored.map((file) => file.ok ? html`<img src="${file.url}" alt="">`
      : html`<small class="wrong">تعذر رفع ${file.name}</small>`))
    files.value = ''
  }

  async function publish() {
    form.querySelectorAll('.wrong').forEach((note) => note.remove())
    // Only filled-in fields are sent, because an empty text would be too short.
    const text = Object.fromEntries([...new FormData(form)].filter(([, value]) => value))
    const body = {
      ...text,
      price: Number(text.price) || null,
      landAreaM2: Number(text.landAreaM2) || null,
      uploadSessionId,
      publish: true,
    } as Schemas['NewProperty'] & { publish: true }
    try {
      const { id } = await client.post('/properties', { body })
      location.hash = `#/listing/${id}`
    } catch (error) {
      if (isApiError(error)) {
        for (const { path, message } of error.fields) {
          form.querySelector(`[name=${path}]`)?.after(html`<small class="wrong">${message}</small>`)
        }
        // A larger plan allows more.
        if (error.code === 'quota_exceeded') location.hash = '#/plans'
      }
      throw error
    }
  }
}
