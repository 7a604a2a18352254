// Stores the files of the demo data in the Storage stand-in, and inserts the rows that uploads would insert.
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import type { Stack } from '../config/stack.ts'
import { openFiles } from '../storage/files.ts'
import { interior, logo, paper, portrait } from './pictures.ts'
import { exterior, height, width } from './scenes.ts'

type Bucket = 'listings' | 'avatars' | 'documents'
type File = {
  bucket: Bucket
  identity: string
  account: string
  draw: () => Buffer
  use?: string
  property?: string
  position?: number
}

/** Derives an id from a name, like pg_temp.demo_id in seed.sql. */
function demoId(name: string): string {
  const hex = createHash('md5').update(`demo ${name}`).digest('hex').split('')
  hex[12] = '4'
  hex[16] = '8'
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const numberOf = (id: string) => parseInt(id.slice(0, 8), 16)

function drawing<T extends unknown[]>(draw: (...args: T) => Buffer) {
  const drawn = new Map<string, Buffer>()
  return (...args: T): Buffer => {
    const key = args.join(' ')
    const picture = drawn.get(key) ?? draw(...args)
    drawn.set(key, picture)
    return picture
  }
}
const outside = drawing(exterior)
const inside = drawing(interior)

/** Stores the files and inserts their rows. Must run in the transaction that loads the demo data. */
export async function storeDemoFiles(client: pg.Client, stack: Stack): Promise<void> {
  await client.query('select private.set_files_url($1)', [
    `${stack.publicUrl}/storage/v1/object/public`,
  ])
  const needed = [
    ...await picturesOfListings(client),
    ...await picturesOfPeople(client),
    ...await papers(client),
  ]
  await insert(client, await store(needed, stack.dataDir))
}

const withRooms = ['apartment', 'floor', 'house', 'villa', 'gov_house', 'chalet', 'studio', 'annex']

async function picturesOfListings(client: pg.Client): Promise<File[]> {
  const { rows } = await client.query<
    { id: string; kind: string; identity: string; account: string }
  >(
    `select properties.id, kind, identities.id as identity, identities.account_id as account
     from public.properties join public.identities on identities.id = owner_identity_id
     where properties.status not in ('expired', 'archived') order by properties.id`,
  )
  return rows.flatMap(({ id, kind, identity, account }) => {
    const number = numberOf(id)
    // About one listing in eight has no pictures, as in reality.
    const count = number % 8 === 0 ? 0 : number % 3 === 0 ? 3 : 1
    return Array.from({ length: count }, (_, position): File => {
      const draw = () =>
        position === 0 || !withRooms.includes(kind)
          ? outside(kind, (number + position) % 8)
          : inside((number + position) % 16)
      return {
        bucket: 'listings',
        identity,
        account,
        draw,
        use: 'listing',
        property: id,
        position,
      }
    })
  })
}

async function picturesOfPeople(client: pg.Client): Promise<File[]> {
  const { rows } = await client.query<{ identity: string; account: string; type: string }>(
    `select id as identity, account_id as account, type from public.identities
     where type <> 'individual' or right(id::text, 1) < '8' order by id`,
  )
  return rows.map(({ identity, account, type }): File => {
    const isPerson = type === 'individual'
    const draw = () => (isPerson ? portrait : logo)(numberOf(identity))
    return { bucket: 'avatars', identity, account, draw, use: isPerson ? 'avatar' : 'logo' }
  })
}

async function papers(client: pg.Client): Promise<File[]> {
  const { rows } = await client.query<{ identity: string; account: string }>(
    `select id as identity, account_id as account from public.identities
     where status = 'pending_verification' order by id`,
  )
  return rows.flatMap(({ identity, account }) =>
    [0, 1].map((page): File => (
      { bucket: 'documents', identity, account, draw: () => paper(page), position: page }
    ))
  )
}

type Row = Omit<File, 'draw'> & {
  id: string
  name: string
  version: string
  bytes: number
  sha256: string
  metadata: object
}

async function store(files: File[], dataDir: string): Promise<Row[]> {
  const storage = openFiles(dataDir)
  const rows: Row[] = []
  for (const { draw, ...file } of files) {
    // Lets Node handle signals before each picture, so that Ctrl-C does not have to wait for all of them.
    await setImmediate()
    const content = draw()
    const { version, size, etag } = storage.put(content)
    const id = demoId(`file of ${file.property ?? file.identity} ${file.position ?? 0}`)
    const metadata = {
      eTag: etag,
      size,
      mimetype: 'image/png',
      cacheControl: file.bucket === 'documents' ? 'no-store' : 'max-age=86400',
      lastModified: new Date().toISOString(),
      contentLength: size,
      httpStatusCode: 200,
    }
    const sha256 = createHash('sha256').update(content).digest('hex')
    const name = `${file.identity}/${id}.png`
    rows.push({ ...file, id, name, version, bytes: size, sha256, metadata })
  }
  return rows
}

const side = ({ bucket }: Row) => bucket === 'avatars' ? [160, 160] : [width, height]

async function insert(client: pg.Client, rows: Row[]) {
  const given = rows.map((row) => ({ ...row, width: side(row)[0], height: side(row)[1] }))
  await client.query(`set local edits.by = 'local'`)
  await client.query(
    `create temporary table demo_files on commit drop as
     select * from jsonb_to_recordset($1) as files (
       bucket text, identity uuid, account uuid, use text, property uuid, position integer, id uuid,
       name text, version text, bytes integer, sha256 text, metadata jsonb, width integer,
       height integer
     )`,
    [JSON.stringify(given)],
  )
  await client.query(
    `insert into storage.objects (bucket_id, name, metadata, user_metadata, version)
     select bucket, name, metadata, jsonb_build_object(
       'width', width, 'height', height, 'orientation', 1, 'sha256', sha256), version
     from demo_files;
     insert into public.media (id, account_id, identity_id, bucket, name, width, height, orientation,
       bytes, sha256, use, property_id, position)
     select id, account, identity, bucket, name, width, height, 1, bytes, sha256, use, property,
       position
     from demo_files where bucket <> 'documents';
     insert into public.documents (id, account_id, identity_id, name, file, type, bytes, sha256)
     select id, account, identity, 'الترخيص التجاري.png', name, 'image/png', bytes, sha256
     from demo_files where bucket = 'documents';
     update public.individual_profiles set avatar_url = private.media_url(bucket, name)
     from demo_files where use = 'avatar' and account = account_id;
     update public.organisations set logo_url = private.media_url(bucket, name)
     from demo_files where use = 'logo' and identity = identity_id;
     update public.identities set avatar_url = private.media_url(bucket, demo_files.name)
     from demo_files where use in ('avatar', 'logo') and identity = identities.id`,
  )
}
