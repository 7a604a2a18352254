// Finds out who may read and write a private topic: tries the policies on realtime.messages with the caller's
// role and claims, in a transaction that is always rolled back.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Json } from './frames.ts'

export type Caller = { role: string; claims: Json; headers: Json }

export type Extension = 'broadcast' | 'presence'

export type Authorization = ReturnType<typeof openAuthorization>

const text = (value: string) => pg.escapeLiteral(value.replaceAll('\0', ''))

function actAs({ role, claims, headers }: Caller, topic: string): string {
  const settings = {
    role,
    'realtime.topic': topic,
    'request.jwt.claims': JSON.stringify(claims),
    'request.jwt.claim.sub': String(claims.sub ?? ''),
    'request.jwt.claim.role': role,
    'request.headers': JSON.stringify(headers),
  }
  const set = Object.entries(settings).map(([name, value]) =>
    `set_config(${text(name)}, ${text(value)}, true)`
  )
  return `select ${set.join(', ')};`
}

const probeInsert = (id: string, topic: string, extension: Extension) =>
  'insert into realtime.messages (id, topic, extension, inserted_at, updated_at) ' +
  `values ('${id}', ${text(topic)}, '${extension}', now(), now());`

/** `databaseUrl` is the database URL of the platform's superuser. */
export function openAuthorization(databaseUrl: string) {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 4,
    connectionTimeoutMillis: 5000,
    statement_timeout: 10_000,
    application_name: 'realtime',
  })
  pool.on('error', () => {})

  async function rolledBack(statements: string): Promise<pg.QueryResult[]> {
    const client = await pool.connect()
    const ignore = () => {}
    client.on('error', ignore)
    let broken: Error | undefined
    try {
      const results = await client.query(`begin; ${statements} rollback`)
      return results as unknown as pg.QueryResult[]
    } catch (error) {
      await client.query('rollback').catch((failure: Error) => (broken = failure))
      throw error
    } finally {
      client.off('error', ignore)
      client.release(broken)
    }
  }

  return {
    async readable(topic: string, caller: Caller, extensions: Extension[]): Promise<Extension[]> {
      const ids = new Map(extensions.map((extension) => [randomUUID() as string, extension]))
      const inserts = [...ids].map(([id, extension]) => probeInsert(id, topic, extension))
      const list = [...ids.keys()].map((id) => `'${id}'`).join(', ')
      const results = await rolledBack(
        `${inserts.join(' ')} ${actAs(caller, topic)} ` +
          `select id from realtime.messages where id in (${list});`,
      )
      const seen: { id: string }[] = results.at(-2)!.rows
      return seen.map(({ id }) => ids.get(id)!)
    },
    async writable(topic: string, caller: Caller, extension: Extension): Promise<boolean> {
      try {
        await rolledBack(`${actAs(caller, topic)} ${probeInsert(randomUUID(), topic, extension)}`)
        return true
      } catch (error) {
        if ((error as { code?: string }).code === '42501') return false
        throw error
      }
    },
    async sent(topic: string, since: number, limit: number) {
      const { rows } = await pool.query(
        `select id, event, payload, binary_payload from realtime.messages
         where topic = $1 and private and extension = 'broadcast' and event is not null
           and inserted_at >= to_timestamp($2::float8 / 1000) at time zone 'UTC'
           and inserted_at > (now() at time zone 'UTC') - interval '72 hours'
         order by inserted_at desc limit $3`,
        [topic, since, limit],
      )
      return rows.reverse() as {
        id: string
        event: string
        payload: Json | null
        binary_payload: Buffer | null
      }[]
    },
    /** Creates the daily partitions, as hosted projects do when Realtime connects to the database. */
    ensurePartitions: () => {
      pool.query('select realtime.ensure_partitions()').catch((error) =>
        console.error(`partitions of realtime.messages: ${error.message}`)
      )
    },
    answers: () => pool.query('select 1').then(() => true, () => false),
    close: () => pool.end(),
  }
}
