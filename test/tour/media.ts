import { jpeg, partsIn, png } from '../support/pictures.ts'
import { ask, type Json, must, show, step, upload } from './guide.ts'
import { listing } from './world.ts'

const file = (bytes: Buffer) => new Blob([new Uint8Array(bytes)])
const size = { width: 64, height: 48 }

export async function media() {
  await step(
    'An avatar: seen at the person, served as a picture without its metadata',
    async () => {
      const form = new FormData()
      form.append('file', file(png(size)), 'me.png')
      const { mediaId, url: address } = await upload('/media/upload/avatar', form)
      const { body } = await ask('PATCH', '/auth/me', { avatarMediaId: mediaId })
      must(body.user.avatarUrl === address, 'the person was to have that picture')
      const served = await fetch(address)
      const parts = partsIn(Buffer.from(await served.arrayBuffer()))
      must(served.headers.get('content-type') === 'image/png', 'it was to be a PNG')
      must(parts.join() === 'IHDR,IDAT,IEND', 'nothing but the picture was to be in it')
    },
  )

  await step(
    'Eight pictures of a new listing, one of them bad: named, the others in order',
    async () => {
      const form = new FormData()
      const pictures = Array.from({ length: 8 }, (_, shade) => jpeg({ ...size, shade: shade * 20 }))
      for (const [index, bytes] of pictures.entries()) {
        form.append('files', file(index === 4 ? Buffer.from('<html>') : bytes), `${index}.jpg`)
      }
      const { uploadSessionId, files } = await upload('/media/upload/listings', form)
      const bad = files.filter(({ ok }: Json) => !ok)
      must(bad.length === 1 && bad[0].index === 4, 'the fifth was to be named as bad')
      must(bad[0].error.code === 'file_not_image', 'as no picture')

      const fields = {
        ...listing({ type: 'SALE', price: 210000 }),
        publish: false,
        uploadSessionId,
      }
      const { body } = await ask('POST', '/properties', fields, { status: 201 })
      const expected = files.filter(({ ok }: Json) => ok).map(({ mediaId }: Json) => mediaId)
      const got = body.media.map(({ id }: Json) => id)
      show(`  ${got.length} pictures in the listing`)
      must(got.join() === expected.join(), 'the good ones were to be there in the order sent')
      for (const [index, { url }] of body.media.entries()) {
        const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
        must(bytes.equals(pictures[index < 4 ? index : index + 1]!), 'each with its own content')
      }
      const turned = await ask('PUT', `/properties/${body.id}/media/order`, {
        mediaIds: got.toReversed(),
      })
      must(turned.body.media[0].id === got.at(-1), 'the last was to come first')
      await ask('DELETE', `/properties/${body.id}`, undefined, { status: 204 })
    },
  )
}
