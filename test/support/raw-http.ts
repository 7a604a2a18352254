import { request } from 'node:http'
import { connect } from 'node:net'
import { projectUrl } from './client.ts'
import { waitUntil } from './wait.ts'

const { hostname, port } = new URL(projectUrl)
const root = '/functions/v1/api'

// deno-lint-ignore no-explicit-any
type Answer = { status: number; body: any; text: string; headers: Record<string, string> }

type Sent = { headers?: Record<string, string>; body?: string | Buffer }

export function sendLiteral(method: string, path: string, { headers, body }: Sent = {}) {
  return new Promise<Answer>((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const options = {
      hostname,
      port,
      method,
      path: root + path,
      headers: { ...length, ...headers },
    }
    const sent = request(options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        const json = response.headers['content-type']?.startsWith('application/json')
        resolve({
          status: response.statusCode!,
          text,
          body: json && text ? JSON.parse(text) : null,
          headers: response.headers as Record<string, string>,
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/**
 * Sends bytes and returns everything received until the server closes the connection or, if it keeps the
 * connection alive, until `answers` responses have begun.
 */
export async function sendBytes(
  text: string | Buffer,
  { answers = Infinity, end = false } = {},
): Promise<string> {
  let got = ''
  let closed = false
  const socket = connect(Number(port || 80), hostname)
  socket.on('data', (part) => (got += part))
  socket.on('error', () => {})
  socket.on('close', () => (closed = true))
  socket.write(text)
  if (end) socket.end()
  await waitUntil(
    `an end of ${text.toString().slice(0, 200)}`,
    () => closed || statusCodes(got).length >= answers,
  )
  socket.destroy()
  return got
}

export const requestHead = (method: string, path: string, ...lines: string[]) =>
  [`${method} ${root}${path} HTTP/1.1`, `Host: ${hostname}:${port}`, ...lines, '', ''].join('\r\n')

export const statusCodes = (got: string) =>
  [...got.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status))
