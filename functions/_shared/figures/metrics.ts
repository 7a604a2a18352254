// GET /metrics of the API and the chat gateway: metrics of the database and, if the process is long-lived, of
// the process itself. They contain no personal data.
import process from 'node:process'
import { backend } from '../database/db.ts'
import { poolFigures } from '../database/pools.ts'
import { replicaLags } from '../database/replicas.ts'
import { region, version } from '../errors/log.ts'
import { withTimeout } from '../errors/timeout.ts'
import { isEqualSecret } from '../input/hashes.ts'
import { env } from '../settings/env.ts'
import { secret } from '../settings/read-setting.ts'
import { type Family, gauge, single, written } from './families.ts'

type Queue = { name: string; waiting: number; age: number | null }

type Figures = {
  jobsRan: number | null
  queues: Queue[]
  moderation: Queue[]
  pushesFailed: number
  sent: Record<'sms' | 'mail', number>
  codes: { limit: number; used: number } | null
  alarms: Record<string, number>
  maintenance: boolean | null
  readOnly: boolean
  bytes: number
  connections: number
  connectionLimit: number
}

const token = secret('METRICS_TOKEN')

/** Whether the Authorization header contains the token. Always false if METRICS_TOKEN is not set. */
export const mayReadMetrics = (authorization = ''): boolean =>
  token !== undefined &&
  isEqualSecret(/^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '', token)

const timeLimit = 2000

async function ask(): Promise<Family[]> {
  const [figures, lags] = await Promise.all([
    // Does not use the reserved connection: a query that waits for a lock would block health checks and
    // alarms.
    withTimeout(timeLimit, backend<Figures>('figures', {}, 0.75 * timeLimit), 'timeout')
      .catch(() => undefined),
    replicaLags(),
  ])
  return [
    single(
      'marketplace_database_up',
      'Whether the database gave its figures within two seconds.',
      figures ? 1 : 0,
    ),
    ...(figures ? ofDatabase(figures) : []),
    gauge(
      'marketplace_replica_up',
      'Whether a read replica answers.',
      lags.map(({ replica, seconds }) => ({
        labels: { replica },
        value: seconds === undefined ? 0 : 1,
      })),
    ),
    gauge(
      'marketplace_replica_lag_seconds',
      'How far a read replica is behind.',
      lags.map(({ replica, seconds }) => ({ labels: { replica }, value: seconds })),
    ),
  ]
}

const perQueue = (queues: Queue[], label: string, field: 'waiting' | 'age') =>
  queues.map(({ name, ...queue }) => ({ labels: { [label]: name }, value: queue[field] ?? 0 }))

const perKind = (label: string, values: Record<string, number>) =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }))

const ofDatabase = (figures: Figures): Family[] => [
  single(
    'marketplace_jobs_age_seconds',
    'How long ago all jobs last ran; they run every minute.',
    figures.jobsRan,
  ),
  gauge(
    'marketplace_queue_waiting',
    'What waits for a job now (10,000 are counted; of documents and files without a row 1,000 each).',
    perQueue(figures.queues, 'queue', 'waiting'),
  ),
  gauge(
    'marketplace_queue_age_seconds',
    'For how long the oldest of a queue has waited; 0 if nothing waits.',
    perQueue(figures.queues, 'queue', 'age'),
  ),
  single(
    'marketplace_pushes_failed',
    'Pushes that FCM did not take and that are tried again.',
    figures.pushesFailed,
  ),
  gauge(
    'marketplace_moderation_waiting',
    'What waits for an administrator.',
    perQueue(figures.moderation, 'kind', 'waiting'),
  ),
  gauge(
    'marketplace_moderation_age_seconds',
    'How old the oldest is that waits for an administrator, a listing or company since it was made; 0 if nothing waits.',
    perQueue(figures.moderation, 'kind', 'age'),
  ),
  gauge(
    'marketplace_messages_sent_today',
    'SMS and mail sent on this day in Kuwait.',
    perKind('kind', figures.sent),
  ),
  single(
    'marketplace_sms_limit_today',
    'SMS_PER_DAY; left out where there is no limit.',
    env.smsPerDay || undefined,
  ),
  single(
    'marketplace_codes_recent',
    'Codes by SMS and mail within the window of the rate code_service.',
    figures.codes?.used,
  ),
  single(
    'marketplace_codes_recent_limit',
    'The rate code_service; left out where it is lifted.',
    figures.codes?.limit,
  ),
  gauge(
    'marketplace_alarms_open',
    'Alarms that nobody has settled.',
    perKind('kind', figures.alarms),
  ),
  single(
    'marketplace_maintenance',
    'Whether only administrators get in.',
    Number(figures.maintenance),
  ),
  single(
    'marketplace_database_read_only',
    'Whether the database takes no writes.',
    Number(figures.readOnly),
  ),
  single('marketplace_database_size_bytes', 'What the database takes on disk.', figures.bytes),
  single(
    'marketplace_database_connections',
    'Connections to the database, of everybody.',
    figures.connections,
  ),
  single(
    'marketplace_database_connections_limit',
    'How many it takes (max_connections).',
    figures.connectionLimit,
  ),
]

const ofProcess = (): Family[] => {
  const pools = poolFigures()
  const perPool = (field: 'open' | 'idle' | 'waiting') =>
    pools.map(({ pool, ...figures }) => ({ labels: { pool }, value: figures[field] }))
  return [
    gauge('marketplace_pool_connections', 'Open connections to the database.', perPool('open')),
    gauge('marketplace_pool_idle', 'Those of them that nobody uses.', perPool('idle')),
    gauge('marketplace_pool_waiting', 'Calls that wait for one.', perPool('waiting')),
    single(
      'process_resident_memory_bytes',
      'Resident memory of the process.',
      process.memoryUsage().rss,
    ),
    single(
      'process_start_time_seconds',
      'When the process started, in seconds since 1970.',
      performance.timeOrigin / 1000,
    ),
  ]
}

let last: { at: number; families: Promise<Family[]> } | undefined
let counted: (() => Family[]) | undefined

/** Adds metrics of this long-lived process to those of the database. */
export const countHere = (families: () => Family[]) => void (counted = families)

/** Queries the database at most once every two seconds. */
export async function metrics(
  accept: string | undefined,
  more: Family[] | Promise<Family[]> = [],
) {
  if (!last || Date.now() - last.at > timeLimit) last = { at: Date.now(), families: ask() }
  const built = [{ labels: { version, region: region() ?? '' }, value: 1 }]
  return written([
    gauge('marketplace_build_info', 'Which version runs where.', built),
    ...await last.families,
    ...await more,
    ...(counted ? [...ofProcess(), ...counted()] : []),
  ], accept)
}
