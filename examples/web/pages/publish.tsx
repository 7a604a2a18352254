// Creates a listing or edits an own one. Pictures are uploaded while the user fills in the form.
import { isApiError, newId } from 'kuwait-property-client'
import { Button, client, explain, type Faults, faultsOf, Field, go, Input, Loaded, NumberInput, picture, type Place } from '../app.ts'
import { type Property, say, type Schemas, Select, submitted, t, type Text, Title, to, useLoad, useState, valuesOf } from '../app.ts'
import { areaOptions, optionsOf } from './filters.tsx'

const numbers = { price: 'priceInDinars', landAreaM2: 'landArea', builtAreaM2: 'builtArea', bedrooms: 'bedrooms', bathrooms: 'bathrooms' } as const

export function Publish({ id }: Place) {
  const loaded = useLoad(async (signal) => id ? await client.get('/properties/{id}', { path: { id }, signal }) : null)
  return <><Title text={t(id ? 'edit' : 'publish')} />
    <Loaded of={loaded}>{(listing) => <Form of={listing && !('available' in listing) ? listing : null} />}</Loaded></>
}

function Form({ of: listing }: { of: Property | null }) {
  const [uploadSessionId] = useState(newId)
  const [faults, setFaults] = useState<Faults>({})
  const [part, setPart] = useState<number>()
  const [pictures, setPictures] = useState((listing?.media ?? []).map(({ id, url }) => ({ id, url })))

  async function upload(input: HTMLInputElement) {
    setPart(0)
    const target = listing ? { propertyId: listing.id } : { uploadSessionId }
    const { files } = await client.upload.pictures([...input.files!], { ...target, onProgress: setPart }).finally(() => setPart(undefined))
    setPictures((now) => [...now, ...files.flatMap(({ ok, mediaId, url }) => ok ? [{ id: mediaId!, url: url! }] : [])])
    const refused = files.filter(({ ok }) => !ok).map(({ name, error }) => `${name}: ${error?.message ?? ''}`)
    if (refused.length) say(refused.join(' '))
    input.value = ''
  }
  const remove = (mediaId: string) => async () => {
    await client.delete('/properties/{id}/media/{mediaId}', { path: { id: listing!.id, mediaId } })
    setPictures((now) => now.filter((one) => one.id !== mediaId))
  }

  async function save(form: HTMLFormElement, publish: boolean) {
    const { values, faults, isRight } = valuesOf(form, Object.keys(numbers))
    setFaults(faults)
    if (!isRight) return
    try {
      const change = () => client.patch('/properties/{id}', { path: { id: listing!.id }, body: values, headers: { 'if-match': `${listing!.version}` } })
      const add = () => client.post('/properties', { body: { ...values, uploadSessionId, publish } as Schemas['NewProperty'] })
      const saved = await (listing ? change() : add())
      go(to(publish || listing ? `listing/${saved.id}` : 'mine'))
    } catch (error) {
      setFaults(faultsOf(error))
      // A larger plan has a higher quota.
      if (isApiError(error) && error.code === 'quota_exceeded') go(to('plans'))
      throw error
    }
  }
  const value = (name: keyof Property & string) => (listing?.[name] ?? '') as string
  const select = (label: Text, name: keyof Property & string, options: [string, string][]) =>
    <Select label={t(label)} name={name} value={value(name)} error={faults[name]} options={options} />
  return <form class='fields grid' noValidate onSubmit={submitted((form) => save(form, true))}>
    {!listing?.publishedAt && select('offer', 'type', optionsOf('listingType'))}
    {select('kind', 'kind', [['', t('choose')], ...optionsOf('kind')])}{select('area', 'areaId', [['', t('choose')], ...areaOptions()])}
    <Input label={t('title')} name='titleAr' defaultValue={value('titleAr')} error={faults.titleAr} dir='auto' />
    <Field label={t('description')} error={faults.descriptionAr}>{(id) =>
      <textarea {...id} name='descriptionAr' rows={4} dir='auto' defaultValue={value('descriptionAr')} />}</Field>
    {(Object.keys(numbers) as (keyof typeof numbers)[]).map((name) =>
      <NumberInput key={name} label={t(numbers[name])} name={name} value={listing?.[name]} error={faults[name]} />)}
    {select('furnishing', 'furnished', [['', t('notSaid')], ...optionsOf('furnished')])}
    <Field label={t('pictures')}>{(id) => <input {...id} type='file' accept='image/jpeg,image/png,image/webp' multiple
      onChange={({ currentTarget }) => void upload(currentTarget).catch(explain)} />}</Field>
    {part !== undefined && <progress max='1' value={part} aria-label={t('uploading')} />}
    <ul class='line'>{pictures.map(({ id, url }, at) => <li key={id} class='thumbnail'>
      <img src={picture(160, url)} alt={t('pictureOf', { n: at + 1, all: pictures.length })} />
      {listing && <Button class='plain' aria-label={t('remove', { n: at + 1 })} onClick={remove(id)}>✕</Button>}</li>)}</ul>
    <div class='line'><button disabled={part !== undefined}>{t(listing ? 'saveChanges' : 'publishNow')}</button>
      {!listing && <button type='button' class='second'
        onClick={({ currentTarget }) => void save(currentTarget.form!, false).catch(explain)}>{t('saveDraft')}</button>}</div>
  </form>
}
