// Reads for anonymous users come from replicas (FACADE_READ_DB_URL), whose data may be a few seconds old.
// Requests with a token never use a replica, because it might still accept a session that has ended.
import { alarm, settleAlarm } from '../errors/alarms.ts'
import { causeOf } from '../errors/refusal.ts'
import { env } from '../settings/env.ts'
import { literal } from './literals.ts'
import { Pool, type Rows, runQuery, sendQuery } from './pools.ts'

/**
 * Functions whose results may be a few seconds old. They read only public data and write nothing for
 * anonymous users.
 */
export const mayBeOld: ReadonlySet<string> = new Set([
  'count_listings',
  'get_advertiser',
  'get_app',
  'get_organisation',
  'get_property',
  'get_property_by_number',
  'list_advertiser_listings',
  'list_amenities',
  'list_area_price_history',
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
  'suggest',
])

/** If no worker has raised a replica's alarm for this long, every worker can reach the replica. */
const quiet = '5 minutes'
const askToSettleAfter = 60_000

const connectTime = 300 * env.patience
const answerTime = 3000 * env.patience
const lagTime = 1000 * env.patience

const replicas = env.readDatabases.map((connection) => ({
  name: `${connection.user}@${connection.host}:${connection.port}`,
  pool: new Pool(connection, env.databasePool, connectTime),
  awayUntil: 0,
  failures: 0,
  settleRequestedAt: 0,
}))

type Replica = (typeof replicas)[number]

const isUp = ({ awayUntil }: Replica) => awayUntil < Date.now()

/**
 * How many searches may run on the replicas at once. One connection per replica is reserved for fast reads.
 */
export const replicaSlots = () => replicas.filter(isUp).length * Math.max(1, env.databasePool - 1)

/** Errors caused by the request itself: refusals, invalid values, missing privileges, statement timeouts. */
const isOfRequest = /^(PT[45]..|22...|23...|42501|57014)$/
/** The query conflicted with replicated changes, or needed changes that have not arrived yet. */
const isConflict = /^40/

let systemId: Promise<string> | undefined

/** Returns the system identifier of the primary. Its replicas have the same one. */
const systemOfPrimary = () =>
  systemId ??= sendQuery('select system_identifier as id from pg_control_system()')
    .then(([row]) => row.id!)
    .catch((error) => {
      systemId = undefined
      throw error
    })

let turn = 0

/** Queries a replica. Returns undefined if the primary must be used instead. */
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
    // A function listed above tried to write. That is a bug of ours, not a fault of the replica.
    if (code === '25006') void alarm('replica_written_to', name)
    else if (message === 'replica_foreign') refuse(replica)
    else if (!isConflict.test(code)) putAside(replica, causeOf(error as Error))
    return undefined
  }
}

/** The lag of each replica in seconds. Undefined if it does not respond. */
export const replicaLags = () =>
  Promise.all(replicas.map(async ({ name, pool }) => {
    const question = 'set local role backend;select private.replica_lag() as lag'
    const rows = await runQuery(question, lagTime, pool).catch(() => [])
    const lag = rows.at(-1)?.lag
    return { replica: name, seconds: lag == null ? undefined : Number(lag) }
  }))

function putAside(replica: Replica, why: string) {
  replica.awayUntil = Date.now() + 1000
  if (++replica.failures <= 2) return
  void alarm('replica_away', replica.name, { why })
}

function settleQuiet(replica: Replica) {
  if (Date.now() - replica.settleRequestedAt < askToSettleAfter) return
  replica.settleRequestedAt = Date.now()
  settleAlarm('replica_away', replica.name, quiet)
}

/**
 * Stops using a replica that belongs to another database or was promoted, because it no longer receives our
 * changes.
 */
function refuse(replica: Replica) {
  replica.awayUntil = Date.now() + 60_000
  // The primary may have been replaced, so read its identifier again.
  systemId = undefined
  void alarm('replica_foreign', replica.name)
}
