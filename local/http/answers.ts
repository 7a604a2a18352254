import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Sends a response directly on a socket and closes it, to reject an upgrade or an invalid request. */
export function endSocket(socket: Socket, status: string, message: string, retryAfter?: number) {
  if (!socket.writable) return socket.destroy()
  const body = JSON.stringify({ message, retryAfter })
  socket.end(
    `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Type: application/json\r\n` +
      (retryAfter ? `Retry-After: ${retryAfter}\r\n` : '') +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
}

const starting = 'The part is starting, try again.'

export const unavailable = (response: ServerResponse) => () =>
  answer(response, 503, { code: 'BOOT_ERROR', message: starting, retryAfter: 1 }, {
    'retry-after': '1',
  })

export const socketUnavailable = (socket: Socket) => () =>
  endSocket(socket, '503 Service Unavailable', starting, 1)

export function answer(
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  if (response.headersSent || response.destroyed) return
  const text = body === undefined ? '' : JSON.stringify(body)
  const type = text ? { 'content-type': 'application/json; charset=utf-8' } : {}
  response.writeHead(status, { ...type, 'x-content-type-options': 'nosniff', ...headers })
  response.end(text)
}
