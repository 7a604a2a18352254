import type { Server } from 'node:http'
import type { Socket } from 'node:net'

type Parsed = Socket & { parser?: { incoming?: unknown } | null }

const rawLine = /^[A-Z]{3,10} [^\r\n]*[\x80-\xff]/
const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

/** Accepts raw UTF-8, which curl sends. The platform accepts it, Node's parser does not (nodejs/node#962). */
export function acceptUtf8RequestLines(server: Server): void {
  server.on('connection', (socket: Parsed) => {
    // Adding a data listener makes Node emit the data. Otherwise, the parser reads it directly.
    const listener = () => {}
    socket.on('data', listener).off('data', listener)
    const { emit } = socket
    socket.emit = (event: string | symbol, ...given: unknown[]) => {
      // While a request is being received, the data belongs to its body.
      const begins = event === 'data' && socket.parser && !socket.parser.incoming
      const passed = begins ? [encoded(given[0] as Buffer)] : given
      return Reflect.apply(emit, socket, [event, ...passed])
    }
  })
}

function encoded(packet: Buffer): Buffer {
  const end = packet.indexOf('\n')
  const line = packet.toString('latin1', 0, end < 0 ? packet.length : end)
  if (!rawLine.test(line)) return packet
  const plain = Buffer.from(line.replace(/[\x80-\xff]/g, escaped), 'latin1')
  return Buffer.concat([plain, packet.subarray(line.length)])
}
