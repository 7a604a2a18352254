// Guests' reads from replicas (FACADE_READ_DB_URL), which may be seconds old. Requests with a token never
// read there, because a replica may still accept a session that has ended.
import { alarm, settleAlarm } from '../errors/alarms.ts'
import { causeOf } from '../errors/refusal.ts'
import { env } from '../settings/env.ts'
import { literal } from './literals.ts'
import { Pool, type Rows, runQuery, sendQuery } from './pools.ts'

/** Functions whose answer may be seconds old: all read public data only and write nothing for a guest. */
export const mayBeOld: ReadonlySet<string> = new Set([
  'count_listings',
  'get_advertiser',
  'get_app',
  'get_organisation',
  'get_property',
  'get_property_by_number',
  'list_advertiser_listings',
  'list_amenities',
  'list_areas',
  'list_enums',
  'list_feed',
  'list_governorates',
  'list_kinds',
  'list_map_areas',
  'list_map_listings',
  'list_organisations',
  'list_price_history',
  'list_reviews',
  'list_similar_properties',
  'search',
])

/** Workers that miss a replica raise its alarm every few seconds, so after this silence none misses it. */
const quiet = '5 minutes'
const askToSettleAfter = 60_000

const connectTime = 300 * env.patience
const answerTime = 3000 * env.patience

const replicas = env.readDatabases.map((connection) => ({
  name: `${connection.user}@${connection.host}:${connection.port}`,
  pool: new Pool(connection, env.databasePool, connectTime),
  awayUntil: 0,
  failures: 0,
  askedToSettle: 0,
}))

type Replica = (typeof replicas)[number]

const isUp = ({ awayUntil }: Replica) => awayUntil < Date.now()

/** The number of searches that replicas take at once; each keeps one connection for quick reads. */
export const replicaSlots = () => replicas.filter(isUp).length * Math.max(1, env.databasePool - 1)

/** Errors caused by the request itself: refusals, values, rights, the time limit. */
const isOfRequest = /^(PT[45]..|22...|23...|42501|57014)$/
/** The request conflicted with changes from the primary, or came too early for them. */
const isConflict = /^40/

let systemId: Promise<string> | undefined

/** Postgres gives each system a number that its replicas share. */
const systemOfPrimary = () =>
  systemId ??= sendQuery('select system_identifier as id from pg_control_system()')
    .then(([row]) => row.id!)
    .catch((error) => {
      systemId = undefined
      throw error
    })

let turn = 0

/** Queries a replica; returns undefined if the primary has to be used. */
export async function queryReplica(name: string, text: string): Promise<Rows | undefined> {
  const up = replicas.filter(isUp)
  if (!up.length) return undefined
  const system = literal(await systemOfPrimary(), 'text')
  const replica = up[turn++ % up.length]
  try {
    const rows = await runQuery(
      `set local role backend;select private.require_replica(${system});${text}`,
      answerTime,
      replica.pool,
    )
    replica.failures = 0
    settleQuiet(replica)
    return rows
  } catch (error) {
    const { code = '', message } = error as { code?: string; message: string }
    if (isOfRequest.test(code)) throw error
    // If a listed function writes, that is our fault and not the replica's.
    if (code === '25006') void alarm('replica_written_to', name)
    else if (message === 'replica_foreign') refuse(replica)
    else if (!isConflict.test(code)) putAside(replica, causeOf(error as Error))
    return undefined
  }
}

function putAside(replica: Replica, why: string) {
  replica.awayUntil = Date.now() + 1000
  if (++replica.failures <= 2) return
  void alarm('replica_away', replica.name, { why })
}

function settleQuiet(replica: Replica) {
  if (Date.now() - replica.askedToSettle < askToSettleAfter) return
  replica.askedToSettle = Date.now()
  settleAlarm('replica_away', replica.name, quiet)
}

/** Changes of ours would never reach a replica of another database, or one that became a primary. */
function refuse(replica: Replica) {
  replica.awayUntil = Date.now() + 60_000
  // The primary may have been replaced in the meantime.
  systemId = undefined
  void alarm('replica_foreign', replica.name)
}
