/**
 * Reads of guests from replicas of the database (FACADE_READ_DB_URL). What they are shown may be seconds
 * old. With a token nothing is read there: a session that was ended would still count.
 */
import { alarm, settleAlarm } from './alarms.ts'
import { env } from './env.ts'
import { literal } from './literals.ts'
import { Pool, type Rows, runQuery, sendQuery } from './pools.ts'
import { causeOf } from './refusal.ts'

/**
 * Functions whose answer may be some seconds old: reviewed one by one, all of them read what everybody may
 * see, and write nothing for a guest.
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

/** That others miss a replica is seen by their raising its alarm, every few seconds while guests come. */
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

/** How many searches replicas take at once; one connection of each is left for quick reads. */
export const replicaSlots = () => replicas.filter(isUp).length * Math.max(1, env.databasePool - 1)

/** What an error says of the request, replica or not: refusals, values, rights, the time of a statement. */
const isOfRequest = /^(PT[45]..|22...|23...|42501|57014)$/
/** The request stood in the way of what came from the primary, or came too early for it. */
const isConflict = /^40/

let systemId: Promise<string> | undefined

/** Postgres gives each system a number of its own, which its replicas share. */
const systemOfPrimary = () =>
  systemId ??= sendQuery('select system_identifier as id from pg_control_system()')
    .then(([row]) => row.id!)
    .catch((error) => {
      systemId = undefined
      throw error
    })

let turn = 0

/** Asks a replica; gives nothing where the primary has to be asked. */
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
    // A function of the list that writes is a fault of ours, not the replica's.
    if (code === '25006') void alarm('replica_written_to', name)
    else if (message === 'replica_foreign') refuse(replica)
    else if (!isConflict.test(code)) putAside(replica, causeOf(error as Error))
    return undefined
  }
}

/** Leaves a replica alone for a moment, of which an admin hears when it was not the first. */
function putAside(replica: Replica, why: string) {
  replica.awayUntil = Date.now() + 1000
  if (++replica.failures <= 2) return
  void alarm('replica_away', replica.name, { why })
}

/** It answers here: its alarm is settled when nobody misses it any more, whichever worker raised it. */
function settleQuiet(replica: Replica) {
  if (Date.now() - replica.askedToSettle < askToSettleAfter) return
  replica.askedToSettle = Date.now()
  settleAlarm('replica_away', replica.name, quiet)
}

/** It shows another database, or is no replica any more: what is written elsewhere never comes to it. */
function refuse(replica: Replica) {
  replica.awayUntil = Date.now() + 60_000
  // Or the primary was made anew meanwhile.
  systemId = undefined
  void alarm('replica_foreign', replica.name)
}
