/**
 * npm run bench [-- --listings=20000] [--pairs=100] [--sockets=1000] [--only=facade,chat]
 * [--sizes=10000,100000] runs the benchmarks facade, shapes, hostile, chat, media, webhooks and desk, or only
 * those in --only. It compares the facade with plain SQL, uploads with disk writes and the desk with a plain
 * table, and measures searches with two numbers of listings, malicious texts and chat. It prints tables and,
 * at the end, one line of JSON.
 */
import { parseArgs } from 'node:util'
import pg from 'pg'
import { hasBrowser } from '../test/client/browser.ts'
import { startStack } from '../test/support/stack.ts'
import { benchChat, chatTable } from './chat.ts'
import { benchDesk, deskTable } from './desk.ts'
import { benchFacade, type Compared, facadeTable } from './facade.ts'
import { loadListings } from './generate-listings.ts'
import { benchUploads, uploadsTable } from './uploads.ts'
import { hostilePicturesTable } from './hostile-pictures.ts'
import { hostileSearchesTable, measureHostileSearches } from './hostile-searches.ts'
import { compareShapes, shapesTable } from './search-shapes.ts'
import { benchWebhooks, sandboxSecret, webhooksTable } from './webhooks.ts'

const { values } = parseArgs({
  options: {
    listings: { type: 'string', default: '20000' },
    pairs: { type: 'string', default: '100' },
    sockets: { type: 'string', default: '1000' },
    sizes: { type: 'string', default: '10000,100000' },
    only: { type: 'string', default: 'facade,shapes,hostile,chat,media,webhooks,desk' },
  },
})
const count = Number(values.listings)
if (!Number.isInteger(count) || count < 1000) {
  console.error('--listings takes a whole number, 1000 or more.')
  process.exit(1)
}

const sizes = values.sizes.split(',').map(Number)
if (sizes.length > 2 || sizes.some((size) => !Number.isInteger(size) || size < 1000)) {
  console.error('--sizes takes one or two whole numbers of listings, each 1000 or more.')
  process.exit(1)
}

const say = (line: string) => console.log(line)

function table(rows: string[][]) {
  const widths = rows[0].map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  for (const row of rows) {
    say(row.map((cell, i) => i ? cell.padStart(widths[i]) : cell.padEnd(widths[i])).join('  '))
  }
}

/** Measures requests through the facade, on a separate stack. */
async function measureFacade(): Promise<Compared[]> {
  say('starting a stack of its own')
  const stack = await startStack({ RATES: 'off', WORKER_LIFE: '0' })
  try {
    say(`writing ${count} listings`)
    await loadListings(stack.databaseUrl, count)
    say('facade, functions and plain statements, three rounds of each')
    return await benchFacade(stack)
  } finally {
    await stack.stop()
  }
}

const result: Record<string, unknown> = { listings: count }
if (values.only.includes('facade')) {
  const facade = await measureFacade()
  say('')
  table(facadeTable(facade))
  result.facade = facade
}
if (values.only.includes('shapes')) {
  const shapes = await compareShapes(sizes, say)
  say('')
  table(shapesTable(shapes, sizes))
  result.shapes = shapes
}
if (values.only.includes('hostile')) {
  const costs = await measureHostileSearches(count, say)
  say('')
  table(hostileSearchesTable(costs))
  result.hostile = costs
}
if (values.only.includes('chat')) {
  const [pairs, sockets] = [Number(values.pairs), Number(values.sockets)]
  const chat = await benchChat(say, { pairs, sockets, messages: 3600, seconds: 5 })
  say('')
  table(chatTable(chat))
  say(`${chat.idle.sockets} silent sockets: the gateway takes ${chat.idle.megabytes} MB`)
  result.chat = chat
}
if (values.only.includes('media')) {
  const stack = await startStack({ RATES: 'off', WORKER_LIFE: '0' })
  try {
    const client = new pg.Client({ connectionString: stack.databaseUrl })
    await client.connect()
    await client.query(`set edits.by = 'bench'`)
    await client.query(`update private.rates set max = 1000000000 where true`)
    await client.end()
    const media = await benchUploads(stack, say)
    say('')
    table(uploadsTable(media))
    say('')
    table(hostilePicturesTable(media.worst))
    const { functions, services } = media.megabytesAtATime
    say(`20 at a time: ${media.perSecond}/s; functions +${functions} MB, services +${services} MB`)
    result.media = media
  } finally {
    await stack.stop()
  }
}
if (values.only.includes('webhooks')) {
  const stack = await startStack({ RATES: 'off', WORKER_LIFE: '0', SANDBOX_SECRET: sandboxSecret })
  try {
    const webhooks = await benchWebhooks(stack, say)
    say('')
    table(webhooksTable(webhooks))
    result.webhooks = webhooks
  } finally {
    await stack.stop()
  }
}
if (values.only.includes('desk') && hasBrowser) {
  const desk = await benchDesk(say)
  say('')
  table(deskTable(desk))
  result.desk = desk
}
say(`\n${JSON.stringify(result)}`)
