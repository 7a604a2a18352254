// A mock of the pooler. It removes the project reference from the name of the role.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { ref } from './platform.ts'

const protocol = 0x30000

function renamed(message: Buffer): Buffer {
  const body = message.subarray(8).toString('latin1').replace(`.${ref}\0`, '\0')
  const head = Buffer.from(message.subarray(0, 8))
  head.writeUInt32BE(body.length + 8)
  return Buffer.concat([head, Buffer.from(body, 'latin1')])
}

export async function startPooler(database: string): Promise<{ url: string; stop: () => void }> {
  const target = new URL(database)
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const way = connect(Number(target.port), target.hostname)
    for (const socket of [client, way]) {
      open.add(socket)
      socket.on('error', () => {}).once('close', () => (client.destroy(), way.destroy()))
    }
    // The client may ask for TLS before it sends the startup message. The database answers that.
    const begin = (message: Buffer) => {
      const isStart = message.readUInt32BE(4) === protocol
      way.write(isStart ? renamed(message) : message)
      if (isStart) client.pipe(way)
      else client.once('data', begin)
    }
    client.once('data', begin)
    way.pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(database)
  url.port = String((server.address() as AddressInfo).port)
  return { url: url.href, stop: () => (open.forEach((one) => one.destroy()), server.close()) }
}
