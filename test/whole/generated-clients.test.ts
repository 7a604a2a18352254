// Generates clients in Kotlin, Swift, Go and Python with the commands of docs/apps.md and checks that they
// compile, decode an app's first screens, send pictures, documents and a listing, delete and sign out. This needs
// GENERATORS, a folder filled as in the nightly workflow. Nothing is downloaded, and the results are removed.
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { variable } from '../../local/config/environment.ts'
import { signIn, signUp } from '../support/client.ts'
import { sendMessageAs, startConversation } from '../support/conversations.ts'
import { insertListing, insertOrganisation, insertWaitingCompany } from '../support/fixtures.ts'
import { publishListing, uniquePrice } from '../support/listings.ts'
import { plainDescription } from '../support/openapi.ts'
import { jpeg } from '../support/pictures.ts'
import { waitUntil } from '../support/wait.ts'

const given = variable('GENERATORS')
if (!given) console.log('GENERATORS is not set: generated clients are left out.')
const tools = resolve(given ?? '')
const ours = join(import.meta.dirname, 'generated')
const api = `${variable('SUPABASE_URL')}/functions/v1/api`

const guide = readFileSync(new URL('../../docs/apps.md', import.meta.url), 'utf8')
/** The generators' command lines, by the comment above each. */
const lines = new Map(
  [...guide.matchAll(/^# (.+), by .+\n((?:.+\\\n)*.+)$/gm)].map(([, client, line]) => [
    client!,
    line!.replaceAll('\\\n', ' ').split(/\s+/),
  ]),
)

let folder: string

async function run(command: string, args: string[], more: object = {}) {
  try {
    const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024, ...more }
    return (await promisify(execFile)(command, args, options)).stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${basename(command)}: ${(stderr + stdout).slice(0, 4000)}`, { cause: error })
  }
}

/** Runs the guide's command line for a client in a separate folder, with `program` instead of the tool. */
async function generate(
  client: string,
  tool: string,
  program: string[],
  { within = client, described = document } = {},
) {
  const cwd = join(folder, within)
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(cwd, 'openapi.json'), JSON.stringify(described))
  const [named, ...args] = lines.get(client) ?? []
  expect(named, client).toBe(tool)
  await run(program[0]!, [...program.slice(1), ...args], { cwd })
  return cwd
}

const document = { ...plainDescription, servers: [{ url: api }] }
/** The OpenAPI description of an older service, in which a favorite is never `unavailable`. */
const older = structuredClone(document)
older.components.schemas.SavedListing!.properties!.status!.enum!.shift()
const pictures = ['house.jpg', 'garden.jpg']

beforeAll(() => {
  if (!given) return
  folder = mkdtempSync(join(tmpdir(), 'generated-clients-'))
  for (const [shade, name] of pictures.entries()) {
    writeFileSync(join(folder, name), jpeg({ width: 48, height: 32, shade }))
  }
})

afterAll(() => {
  if (given) rmSync(folder, { recursive: true })
})

/** Creates the data that a client shows, and returns the program's arguments and expected output. */
async function prepare() {
  const { a: me, b, conversationId } = await startConversation()
  const [low, high] = [uniquePrice(), uniquePrice()].sort((one, other) => one - other)
  const [lat, lng] = [29.335, 48.076]
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
  // These listings were published before the feed's current snapshot.
  const before = { published_at: new Date(Date.now() - 600_000) }
  for (let made = 0; made < 8; made++) await insertListing(b.identityId, before)
  await insertOrganisation(unwanted.id, 'office')
  const company = await insertWaitingCompany(me.id)

  const inputs = [
    ...[api, me.accessToken, me.identityId, home.id, gone.refNo, conversationId],
    `${lng - 0.001},${lat - 0.001},${lng + 0.001},${lat + 0.001}`,
    ...[company, ...pictures.map((name) => join(folder, name))],
  ]
  const screens = {
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
    avatar: 48,
    documents: true,
    pictures: 2,
    closed: 'sold false',
    'signed out': 401,
  }
  return { me, home, inputs, screens }
}

/** Runs a client's program with the data from `prepare` and checks its output and its effects. */
async function check(program: (inputs: string[]) => Promise<string>, changes: object = {}) {
  const { me, home, inputs, screens } = await prepare()
  const printed = await program(inputs)
  const lines = printed.trim().split('\n').map((line) => line.split(/: (.*)/, 2))
  // Each language prints lists in its own way.
  const { sent, ...shown } = Object.fromEntries(lines.map(([name, what]) => [
    name,
    what!.replaceAll(/[[\],]/g, ''),
  ]))
  const text = (what: unknown) => [what].flat().join(' ')
  expect(shown).toEqual(
    Object.fromEntries(
      Object.entries({ ...screens, ...changes })
        .map(([name, what]) => [name, text(what)]),
    ),
  )
  const again = await signIn(me.identifier, me.password)
  const { body } = await again.get(`/properties/${sent}`)
  expect(body).toMatchObject({
    status: 'draft',
    price: 285_000.125,
    landAreaM2: 400.5,
    location: { lat: 29.335, lng: 48.076, precision: 'block' },
    // The client deleted the first of the two pictures.
    media: [{ position: 0 }],
  })
  expect(await again.get(`/properties/${home.id}`)).toMatchObject({ status: 404 })
}

describe.runIf(given)(
  'a client generated as docs/apps.md says compiles, decodes the first screens, sends, deletes, signs out',
  () => {
    const jars = globSync(join(tools, 'java', '*.jar'))
    const classpath = jars.join(delimiter)
    const jar = (name: string) => jars.find((path) => basename(path).startsWith(name))!

    test.each([
      ['moshi', 'moshi.kt', document, {}],
      ['kotlinx.serialization', 'kotlinx.kt', older, {
        favorites: ['unknown_default_open_api', 'active'],
      }],
    ])('Kotlin with %s', async (library, configure, described, changes) => {
      const program = ['java', '-jar', jar('openapi-generator-cli')]
      const client = `Kotlin with ${library}`
      const made = await generate(client, 'openapi-generator-cli', program, { described })
      const compiler = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler'
      const plugin = `-Xplugin=${jar('kotlin-serialization-compiler-plugin')}`
      const built = join(made, 'client.jar')
      await run('java', [
        ...['-cp', classpath, compiler, '-no-stdlib', '-no-reflect', '-nowarn', plugin],
        ...['-classpath', classpath, '-d', built, join(made, 'market/src/main/kotlin')],
        ...['main.kt', configure].map((name) => join(ours, name)),
      ])
      const everything = `${built}${delimiter}${classpath}`
      await check((inputs) => run('java', ['-cp', everything, 'MainKt', ...inputs]), changes)
    }, 600_000)

    test('Swift', async () => {
      const program = ['java', '-jar', jar('openapi-generator-cli')]
      const described = older
      const cwd = await generate('Swift', 'openapi-generator-cli', program, { described })
      const swiftc = (module: string, files: string[], ...how: string[]) =>
        run('swiftc', [
          ...['-swift-version', '6', '-wmo', '-I', '.', '-module-name', module],
          ...how,
          ...files,
        ], { cwd })
      const library = ['-parse-as-library', '-emit-module', '-emit-library', '-static']
      const page = readFileSync('docs/apps/swift.md', 'utf8')
      const [forms, linux] = [...page.matchAll(/```swift\n(.*?)```/gs)].map(([, code], nth) => {
        const file = join(cwd, `copied-${nth}.swift`)
        writeFileSync(file, code!)
        return file
      })
      await swiftc('MobileCoreServices', [linux!], ...library)
      await swiftc('Market', globSync(join(cwd, 'market/Sources/**/*.swift')), ...library)
      const linked = ['-L', '.', '-lMarket', '-lMobileCoreServices', '-o', 'walk']
      await swiftc('Walk', [join(ours, 'main.swift'), forms!], ...linked)
      await check((inputs) => run(join(cwd, 'walk'), inputs), {
        favorites: ['unknown_default_open_api', 'active'],
      })
    }, 600_000)

    test('Go', async () => {
      const program = [join(tools, 'go', 'oapi-codegen')]
      await generate('Go', 'oapi-codegen', program, { within: 'go/market', described: older })
      const cwd = join(folder, 'go')
      for (const name of ['go.mod', 'go.sum']) {
        copyFileSync(join(tools, 'go', name), join(cwd, name))
      }
      copyFileSync(join(ours, 'main.go'), join(cwd, 'main.go'))
      const offline = { GOFLAGS: '-mod=mod', GOPROXY: 'off', GOSUMDB: 'off' }
      const env = { ...process.env, ...offline }
      await check((inputs) => run('go', ['run', '.', ...inputs], { cwd, env }))
    }, 600_000)

    test('Python', async () => {
      const bin = join(tools, 'python', 'bin')
      const program = [join(bin, 'openapi-python-client')]
      const made = await generate('Python', 'openapi-python-client', program)
      const env = { ...process.env, PYTHONPATH: made }
      const main = join(ours, 'main.py')
      await check((inputs) => run(join(bin, 'python'), [main, ...inputs], { env }))
    }, 600_000)
  },
)
