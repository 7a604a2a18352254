// Reads new rows of realtime.messages through a temporary logical replication slot. It gets only committed
// rows, in commit order, without gaps as long as the stream lasts. As on hosted projects, an event may arrive
// shortly before other sessions see its row, because Postgres sends a commit to a replication slot before the
// commit becomes visible.
import { randomUUID } from 'node:crypto'
import pg from 'pg'

/** A row in Postgres' text format. */
export type Row = Record<string, string | null>

export type Stream = { ended: Promise<void>; close: () => void }

type CopyConnection = {
  on(event: 'copyData', listener: (message: { chunk: Buffer }) => void): void
  once(event: 'replicationStart', listener: () => void): void
  sendCopyFromChunk(chunk: Buffer): void
}

const publication = 'supabase_realtime_messages_publication'

/**
 * The milliseconds between confirmations. A WAL sender of Postgres 17.10 can miss its wake-up at the moment
 * of a commit (2 of 190,000 rows, measured) and then sleeps until the next commit or up to 15 s; any message
 * wakes it.
 */
const nudge = 200

/** Starts reading. `onRow` is called with every row that is committed from now on. */
export async function openStream(
  databaseUrl: string,
  onRow: (row: Row) => void,
): Promise<Stream> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    replication: 'database',
    keepAlive: true,
    connectionTimeoutMillis: 5000,
  } as pg.ClientConfig)
  client.on('error', () => {})
  // When the database is killed, an `error` event comes before `end`, and events.once would reject.
  const ended = new Promise<void>((resolve) => client.once('end', resolve))
  const close = () => void client.end().catch(() => {})
  try {
    await client.connect()
    const slot = `realtime_${randomUUID().replaceAll('-', '_')}`
    await client.query(
      `CREATE_REPLICATION_SLOT ${slot} TEMPORARY LOGICAL pgoutput NOEXPORT_SNAPSHOT`,
    )
    const { connection } = client as unknown as { connection: CopyConnection }
    const started = new Promise<void>((resolve) => connection.once('replicationStart', resolve))
    const stream = reader(onRow)
    connection.on('copyData', ({ chunk }) => stream.read(chunk))
    const streaming = client.query(
      `START_REPLICATION SLOT ${slot} LOGICAL 0/0 ` +
        `(proto_version '1', publication_names '${publication}')`,
    )
    // The query ends only when the connection ends.
    streaming.catch(() => close())
    await Promise.race([started, streaming])
    const timer = setInterval(
      () => connection.sendCopyFromChunk(confirmation(stream.end())),
      nudge,
    )
    void ended.then(() => clearInterval(timer))
  } catch (error) {
    close()
    throw error
  }
  return { ended, close }
}

/** Reads a stream's messages. `end` is the position up to which the server may discard WAL. */
function reader(onRow: (row: Row) => void) {
  const columns = new Map<number, string[]>()
  let end = 0n
  return {
    end: () => end,
    read: (chunk: Buffer) => {
      const isKeepAlive = chunk[0] === 0x6b
      end = chunk.readBigUInt64BE(isKeepAlive ? 1 : 9)
      if (!isKeepAlive) readChange(chunk.subarray(25), columns, onRow)
    },
  }
}

function confirmation(position: bigint): Buffer {
  const bytes = Buffer.alloc(34)
  bytes.write('r', 'latin1')
  for (const at of [1, 9, 17]) bytes.writeBigUInt64BE(position, at)
  return bytes
}

/** Reads a message of pgoutput: a table's columns or a new row. Other messages are ignored. */
function readChange(bytes: Buffer, columns: Map<number, string[]>, onRow: (row: Row) => void) {
  const kind = String.fromCharCode(bytes[0]!)
  if (kind === 'R') columns.set(bytes.readUInt32BE(1), columnsOf(bytes))
  else if (kind === 'I') onRow(rowOf(bytes, columns.get(bytes.readUInt32BE(1))!))
}

function columnsOf(bytes: Buffer): string[] {
  let at = 5
  const text = () => {
    const end = bytes.indexOf(0, at)
    const part = bytes.toString('utf8', at, end)
    at = end + 1
    return part
  }
  // The names of schema and table and the byte of the replica identity are skipped.
  text()
  text()
  const count = bytes.readUInt16BE(at + 1)
  at += 3
  return Array.from({ length: count }, () => {
    at += 1
    const name = text()
    at += 8
    return name
  })
}

function rowOf(bytes: Buffer, names: string[]): Row {
  let at = 8
  return Object.fromEntries(names.map((name) => {
    const isText = bytes[at] === 0x74
    at += 1
    if (!isText) return [name, null]
    const length = bytes.readUInt32BE(at)
    const value = bytes.toString('utf8', at + 4, at + 4 + length)
    at += 4 + length
    return [name, value]
  }))
}
