import { beforeAll, describe, expect, test } from 'vitest'
import { database, type Person, signUp } from '../support/client.ts'
import { bombs, broken, type Hostile, loaded, MARK, noPictures } from './hostile-files.ts'
import {
  chunk,
  exifSegment,
  extended,
  jpeg,
  lossless,
  partsIn,
  png,
  tiff,
  webp,
  webpChunk,
} from '../support/pictures.ts'
import {
  download,
  formOf,
  postForm,
  storedFiles,
  uploadAvatar,
  uploadPictures,
} from '../support/uploads.ts'

let owner: Person
/** This person sends only files that are refused. */
let refused: Person

beforeAll(async () => {
  ;[owner, refused] = await Promise.all([signUp(), signUp()])
})

const expectNoFile = async () => expect(await storedFiles(refused.identityId)).toEqual([])

const all = [...noPictures, ...broken, ...bombs, ...loaded]
const named = (files: Hostile[]) => files.map(({ name, bytes }) => [name, bytes] as const)

// The only parts that a stored picture may have.
const needed: Record<string, string[]> = {
  'image/jpeg': ['e0', 'e2', 'ee', 'db', 'c0', 'c4', 'da', 'd9'],
  'image/png': ['IHDR', 'iCCP', 'IDAT', 'IEND'],
  'image/webp': ['VP8X', 'ICCP', 'VP8 ', 'VP8L'],
}

test('there are sixty hostile files and more', () => {
  expect(all.length).toBeGreaterThan(60)
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
})

describe('MED-01 MED-06 what is no picture is refused on both routes', () => {
  test.each(named([...noPictures, ...broken]))('%s', async (_, bytes) => {
    const sent = { name: 'holiday.jpg', type: 'image/jpeg' }
    expect(await uploadAvatar(refused, bytes, sent))
      .toMatchObject({ status: 415, body: { error: { code: 'file_not_image' } } })
    expect(await uploadPictures(refused, [{ ...sent, bytes }])).toMatchObject({
      status: 422,
      body: { error: { fields: [{ path: 'files.0', code: 'file_not_image' }] } },
    })
    await expectNoFile()
  })
})

const box = (brands: string) => {
  const named = Buffer.from(`ftyp${brands}`, 'latin1')
  return Buffer.concat([Buffer.from([0, 0, 0, named.length + 4]), named, Buffer.alloc(64)])
}

describe('MED-14 a picture of another format is refused by its name', () => {
  const begins = (text: string) => Buffer.concat([Buffer.from(text, 'latin1'), Buffer.alloc(64)])
  const formats: [format: string | undefined, bytes: Buffer][] = [
    ['HEIC', box('heic\0\0\0\0mif1heic')],
    ['HEIC', box('mif1\0\0\0\0mif1heix')],
    ['AVIF', box('mif1\0\0\0\0mif1avif')],
    ['AVIF', box('avis\0\0\0\0msf1')],
    ['TIFF', begins('II*\0')],
    ['TIFF', tiff(1)],
    ['GIF', begins('GIF89a')],
    ['BMP', begins('BM1234\0\0\0\0')],
    ['JPEG XL', begins('\xff\n')],
    ['JPEG XL', begins('\0\0\0\x0cJXL \r\n\x87\n')],
    ['JPEG 2000', begins('\0\0\0\x0cjP  \r\n\x87\n')],
    ['PSD', begins('8BPS\0\x01')],
    ['ICO', begins('\0\0\x01\0\x01\0')],
    [undefined, box('isom\0\0\x02\0isomiso2')],
    [undefined, Buffer.concat([box('isom\0\0\0\0'), Buffer.from('heic')])],
    [undefined, Buffer.from('BMW, MM and II are in it')],
    [undefined, Buffer.from('ft')],
  ]
  test.each(formats)('%s', async (format, bytes) => {
    const inArabic = format
      ? `الصور بصيغة ${format} غير مدعومة، أرسلها بصيغة JPEG أو PNG أو WebP`
      : 'يُسمح برفع الصور فقط'
    const inEnglish = format
      ? `${format} pictures are not accepted: send JPEG, PNG or WebP`
      : 'Only images can be uploaded'
    const error = { code: 'file_not_image', format, message: inArabic, messageEn: inEnglish }
    const { status, body } = await uploadAvatar(refused, bytes)
    expect([status, body.error]).toEqual([415, { ...error, requestId: expect.any(String) }])
    const path = 'files.0'
    const all = await uploadPictures(refused, [bytes])
    expect(all.body.error.fields)
      .toEqual([{ path, code: error.code, format, message: inArabic }])
    const some = await uploadPictures(owner, [bytes, jpeg({ width: 8, height: 8 })])
    expect([some.status, some.body.files[0].error]).toEqual([201, error])
  })
})

describe('MED-03 a picture that nobody could draw is refused by what it says', () => {
  test.each(named(bombs))('%s', async (_, bytes) => {
    const tooBig = (path: string) => ({
      status: 422,
      body: { error: { code: 'validation_failed', fields: [{ path, code: 'too_big' }] } },
    })
    expect(await uploadAvatar(refused, bytes)).toMatchObject(tooBig('file'))
    expect(await uploadPictures(refused, [bytes])).toMatchObject(tooBig('files.0'))
    await expectNoFile()
  })
})

describe('MED-04 PR-27 nothing of what was hidden in a picture is served', () => {
  test.each(named(loaded))('%s', async (_, bytes) => {
    expect(bytes.includes(MARK)).toBe(true)
    const person = await signUp()
    const { status, body } = await uploadAvatar(person, bytes)
    expect(status).toBe(201)
    const { bytes: stored, headers } = await download(body.url)
    expect(stored.equals(bytes)).toBe(false)
    expect(stored.includes(MARK)).toBe(false)
    for (const part of partsIn(stored)) {
      expect(needed[headers.get('content-type')!]).toContain(part)
    }
    expect(headers.get('content-type')).toBe(typeOf(stored))
    const listed = await uploadPictures(person, [bytes])
    expect((await download(listed.body.files[0].url)).bytes.equals(stored)).toBe(true)
  })
})

// Storage lets browsers guess the type of a file. They recognise a picture by its first bytes and never take
// it for anything else (WHATWG MIME Sniffing, sections 7 and 8.1).
const typeOf = (bytes: Buffer) =>
  bytes.subarray(0, 3).equals(Buffer.from('ffd8ff', 'hex'))
    ? 'image/jpeg'
    : bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'))
    ? 'image/png'
    : /^RIFF[^]{4}WEBPVP/.test(bytes.toString('latin1', 0, 14))
    ? 'image/webp'
    : undefined

describe('MED-04 of EXIF only the orientation stays', () => {
  const size = { width: 40, height: 30 }
  const makers: [type: string, tag: string, make: (orientation: number) => Buffer][] = [
    ['jpeg', 'e1', (turn) => jpeg({ ...size, before: [exifSegment(turn, MARK)] })],
    ['png', 'eXIf', (turn) => png({ ...size, before: [chunk('eXIf', tiff(turn, MARK))] })],
    [
      'webp',
      'EXIF',
      (turn) => webp(extended(size, 8), lossless(size), webpChunk('EXIF', tiff(turn, MARK))),
    ],
  ]
  test.each(makers)('%s', async (_, tag, make) => {
    for (let turn = 1; turn <= 8; turn++) {
      const { body } = await uploadAvatar(owner, make(turn))
      const shown = turn < 5 ? size : { width: size.height, height: size.width }
      expect(body).toMatchObject(shown)
      const { bytes } = await download(body.url)
      expect(bytes.includes(MARK)).toBe(false)
      expect(partsIn(bytes).includes(tag)).toBe(turn > 1)
      // The EXIF data that is left has only tag 0x0112, the orientation; no other directory follows.
      const only = Buffer.from(`4d4d002a0000000800010112000300000001000${turn}000000000000`, 'hex')
      expect(bytes.includes(only)).toBe(turn > 1)
      const { rows } = await database().query(
        'select orientation from public.media where id = $1',
        [body.mediaId],
      )
      expect(rows).toEqual([{ orientation: turn }])
    }
  })

  test('and a circular directory is ignored', async () => {
    const tag = Buffer.alloc(60_000, 0xff)
    for (
      const content of [Buffer.from('MM\0*\0\0\0\x08'), Buffer.from('II*\0\xff\xff\xff\xff'), tag]
    ) {
      const bytes = png({ ...size, before: [chunk('eXIf', content)] })
      expect((await uploadAvatar(owner, bytes)).status).toBe(201)
    }
  })
})

test('MED-05 a file name is never more than text', async () => {
  const names = [
    '../../x.png',
    '..%2fx.png',
    'x.png%00.html',
    '.htaccess',
    'con.png',
    `${'x'.repeat(300)}.png`,
    'صورة البيت.png',
    'photo\u202Egpj.exe',
    `a"b'c.png`,
    'a\r\nX-Evil: 1.png',
    '<img src=x onerror=alert(1)>.png',
    '',
  ]
  const person = await signUp()
  const bytes = jpeg({ width: 8, height: 8 })
  for (const name of names) {
    const { status, body, headers } = await uploadPictures(person, [{ name, bytes }])
    // Without a file name, this part of the form is a field and not a file.
    if (name === '' && status === 422) continue
    expect(status).toBe(201)
    expect(headers.get('x-evil')).toBe(null)
    const shown: string = body.files[0].name
    expect(shown.length).toBeLessThanOrEqual(120)
    expect(shown).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(new URL(body.files[0].url).pathname).toMatch(
      /\/public\/listings\/[0-9a-f-]{36}\/[0-9a-f-]{36}\.jpg$/,
    )
  }
  for (const path of await storedFiles(person.identityId)) {
    expect(path).toMatch(/^[a-z]+\/[0-9a-f-]{36}\/[0-9a-f-]{36}\.(jpg|png|webp)$/)
  }
})

test('a real picture is accepted whatever its name and type say', async () => {
  const bytes = png({ width: 8, height: 8 })
  for (const type of ['text/html', 'application/x-msdownload', '']) {
    const form = formOf('file', [{ bytes, type, name: 'x.svg' }])
    const { status, body } = await postForm(owner, '/media/upload/avatar', form)
    expect(status).toBe(201)
    expect((await download(body.url)).headers.get('content-type')).toBe('image/png')
  }
})
