import type { Server } from 'node:http'
import type { Socket } from 'node:net'

type Parsed = Socket & { parser?: { incoming?: unknown } | null }

const rawLine = /^[A-Z]{3,10} [^\r\n]*[\x80-\xff]/
const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

/**
 * Takes raw UTF-8 in a request line, as curl sends what a person typed, and writes it as a browser
 * would. The platform takes it too; Node's parser does not, and has no setting for it.
 */
export function acceptUtf8RequestLines(server: Server): void {
  server.on('connection', (socket: Parsed) => {
    // Whoever listens to the data gets them before the parser: else it reads them from the handle.
    const listener = () => {}
    socket.on('data', listener).off('data', listener)
    const { emit } = socket
    socket.emit = (event: string | symbol, ...given: unknown[]) => {
      // In the middle of a request these are bytes of its body.
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
