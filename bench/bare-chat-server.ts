/**
 * The minimal server that chat is compared with. It inserts a row, confirms it to the sender, and sends it to
 * the sockets of the room through NOTIFY. It checks no permissions and has neither order nor history.
 */
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { type WebSocket, WebSocketServer } from 'ws'

const connectionString = process.argv[2]
const pool = new pg.Pool({ connectionString, max: 10 })
const listener = new pg.Client({ connectionString })
const rooms = new Map<string, Set<WebSocket>>()

await pool.query(`
  create table if not exists public.bare_messages (
    id bigint generated always as identity primary key, room text not null, body text not null
  )
`)
await listener.connect()
await listener.query('listen bare')
listener.on('notification', ({ payload }) => {
  const { room } = JSON.parse(payload!)
  for (const socket of rooms.get(room) ?? []) socket.send(payload!)
})

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    const { join, room, body } = JSON.parse(data.toString())
    if (join) {
      rooms.set(join, (rooms.get(join) ?? new Set()).add(socket))
      return socket.send('{"joined":true}')
    }
    void pool.query(
      `with added as (
         insert into public.bare_messages (room, body) values ($1, $2) returning room, body
       )
       select pg_notify('bare', to_json(added)::text) from added`,
      [room, body],
    ).then(() => socket.send('{"stored":true}'))
  })
})
server.on('listening', () => process.send!((server.address() as AddressInfo).port))
process.on('disconnect', () => process.exit(0))
