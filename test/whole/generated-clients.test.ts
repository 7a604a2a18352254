// Clients from generators in Kotlin, Go and Python: they compile, decode an app's first screens, and send a
// listing. This needs GENERATORS, a folder filled as in the nightly workflow; nothing is fetched, and the
// results are removed.
import { execFile } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { type Person, signUp } from '../support/client.ts'
import { sendMessageAs, startConversation } from '../support/conversations.ts'
import { insertListing, insertOrganisation } from '../support/fixtures.ts'
import { publishListing, uniquePrice } from '../support/listings.ts'
import { plainDescription } from '../support/openapi.ts'
import { waitUntil } from '../support/wait.ts'

const given = variable('GENERATORS')
if (!given) console.log('GENERATORS is not set: generated clients are left out.')
const tools = resolve(given ?? '')
const ours = join(import.meta.dirname, 'generated')
const api = `${variable('SUPABASE_URL')}/functions/v1/api`

let folder: string
let inputs: string[]
let screens: Record<string, unknown>
let me: Person

async function run(command: string, args: string[], more: object = {}) {
  try {
    const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024, ...more }
    return (await promisify(execFile)(command, args, options)).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${basename(command)}: ${(stderr + stdout).slice(0, 4000)}`, { cause: error })
  }
}

beforeAll(async () => {
  if (!given) return
  folder = mkdtempSync(join(tmpdir(), 'generated-clients-'))
  const document = { ...plainDescription, servers: [{ url: api }] }
  writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))

  const { a, b, conversationId } = await startConversation()
  me = a
  const [low, high] = [uniquePrice(), uniquePrice()].sort((one, other) => one - other)
  const [lat, lng] = [29.25, 48.05]
  const location = { lat, lng, precision: 'exact' }
  const home = await publishListing(me, { price: low, location })
  await publishListing(me, { type: 'RENT', price: high, location })
  const [stored, gone] = [await publishListing(b), await publishListing(b)]
  for (const { id } of [stored, gone]) await me.post(`/favorites/${id}`)
  await b.post(`/properties/${gone.id}/mark-sold`)
  await waitUntil(
    'the sold favorite is told of',
    async () => (await me.get('/notifications')).body.items.length === 1,
  )
  await sendMessageAs(b, conversationId, 'هل البيت متاح؟')
  const unwanted = await signUp('بدر المطيري')
  await me.post(`/blocks/${unwanted.identityId}`)
  // These listings were published before the feed's present snapshot began.
  const before = { published_at: new Date(Date.now() - 600_000) }
  for (let made = 0; made < 8; made++) await insertListing(b.identityId, before)
  await insertOrganisation(unwanted.id, 'office')

  inputs = [
    ...[api, me.accessToken, me.identityId, home.id, gone.refNo, conversationId],
    `${lng - 0.001},${lat - 0.001},${lng + 0.001},${lat + 0.001}`,
  ]
  screens = {
    cards: [high, low],
    records: [high, low],
    search: [high],
    feed: ['office', 'property'],
    'full feed': true,
    clusters: 2,
    points: 2,
    similar: true,
    listing: `${lat} ${home.titleAr}`,
    favorites: ['unavailable', 'active'],
    conversations: ['هل البيت متاح؟'],
    messages: ['هل البيت متاح؟'],
    notifications: ['message_new', 'favorite_unavailable'],
    blocks: ['بدر المطيري'],
    export: [home.titleAr],
    closed: 'sold false',
  }
})

afterAll(() => {
  if (given) rmSync(folder, { recursive: true })
})

async function check(printed: string) {
  const lines = printed.trim().split('\n').map((line) => line.split(/: (.*)/, 2))
  // Each language prints a list in its own way.
  const { sent, ...shown } = Object.fromEntries(lines.map(([name, what]) => [
    name,
    what!.replaceAll(/[[\],]/g, ''),
  ]))
  const text = (what: unknown) => [what].flat().join(' ')
  expect(shown).toEqual(
    Object.fromEntries(
      Object.entries(screens)
        .map(([name, what]) => [name, text(what)]),
    ),
  )
  const { body } = await me.get(`/properties/${sent}`)
  expect(body).toMatchObject({
    status: 'draft',
    price: 285_000.125,
    landAreaM2: 400.5,
    location: { lat: 29.335, lng: 48.076, precision: 'block' },
  })
  await me.delete(`/properties/${sent}`)
}

describe.runIf(given)(
  'a generated client compiles, decodes the first screens, sends a listing',
  () => {
    const jars = globSync(join(tools, 'java', '*.jar'))
    const classpath = jars.join(delimiter)
    const jar = (name: string) => jars.find((path) => basename(path).startsWith(name))!

    test.each([
      ['moshi', 'moshi.kt'],
      ['kotlinx_serialization', 'kotlinx.kt'],
    ])('Kotlin with %s, by openapi-generator', async (library, configure) => {
      const made = join(folder, library)
      const options = `library=jvm-okhttp4,serializationLibrary=${library},packageName=market`
      await run('java', [
        ...['-jar', jar('openapi-generator-cli'), 'generate', '-i', 'openapi.json'],
        ...['-g', 'kotlin', '-o', made, `--additional-properties=${options}`],
      ])
      const compiler = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler'
      const plugin = `-Xplugin=${jar('kotlin-serialization-compiler-plugin')}`
      await run('java', [
        ...['-cp', classpath, compiler, '-no-stdlib', '-no-reflect', '-nowarn', plugin],
        ...['-classpath', classpath, '-d', `${made}.jar`, join(made, 'src/main/kotlin')],
        ...['main.kt', configure].map((name) => join(ours, name)),
      ])
      await check(
        await run('java', ['-cp', `${made}.jar${delimiter}${classpath}`, 'MainKt', ...inputs]),
      )
    }, 300_000)

    test('Go, by oapi-codegen', async () => {
      const made = join(folder, 'go')
      mkdirSync(join(made, 'market'), { recursive: true })
      for (const name of ['go.mod', 'go.sum']) {
        copyFileSync(join(tools, 'go', name), join(made, name))
      }
      copyFileSync(join(ours, 'main.go'), join(made, 'main.go'))
      const code = join(made, 'market', 'market.go')
      await run(join(tools, 'go', 'oapi-codegen'), [
        ...['-generate', 'types,client', '-package', 'market', '-o', code, 'openapi.json'],
      ])
      const offline = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOSUMDB: 'off' }
      const more = { cwd: made, env: { ...process.env, ...offline } }
      await check(await run('go', ['run', '.', ...inputs], more))
    }, 300_000)

    test('Python, by openapi-python-client', async () => {
      const bin = join(tools, 'python', 'bin')
      writeFileSync(join(folder, 'python.yml'), 'package_name_override: market\npost_hooks: []\n')
      await run(join(bin, 'openapi-python-client'), [
        ...['generate', '--path', 'openapi.json', '--output-path', 'python'],
        ...['--config', 'python.yml'],
      ])
      const env = { ...process.env, PYTHONPATH: join(folder, 'python') }
      await check(await run(join(bin, 'python'), [join(ours, 'main.py'), ...inputs], { env }))
    }, 300_000)
  },
)
