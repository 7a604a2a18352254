import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Failure, Lease, Workers } from '../functions/workers.ts'
import { answer, endSocket, socketUnavailable } from '../http/answers.ts'
import { peerOf } from '../http/credentials.ts'
import { forward, forwardUpgrade } from '../http/forward.ts'

const functionOf = (url: string) => /^\/functions\/v1\/([\w-]*)/.exec(url)?.[1] ?? ''

const targetOf = (request: IncomingMessage, port: number) => ({
  port,
  path: request.url!.slice('/functions/v1'.length),
  peer: peerOf(request),
})

export async function toFunctions(
  workers: Workers,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fail = ({ status, code, message, retryAfter }: Failure) =>
    answer(response, status, { code, message, retryAfter }, {
      'sb-error-code': code,
      ...(retryAfter && { 'retry-after': String(retryAfter) }),
    })
  let lease: Lease
  try {
    lease = await workers.acquire(functionOf(request.url!))
  } catch (failure) {
    return fail(failure as Failure)
  }
  if (response.destroyed) return lease.release()
  response.once('close', lease.release)
  const unavailable = () => void lease.failure().then(fail)
  forward(request, response, { ...targetOf(request, lease.port), unavailable })
}

/** Forwards an upgrade to a worker, or to `port` if a separate process serves the function. */
export async function upgradeFunction(
  workers: Workers,
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
  port?: number,
): Promise<void> {
  const unavailable = socketUnavailable(socket)
  if (port) {
    return forwardUpgrade(request, socket, head, { ...targetOf(request, port), unavailable })
  }
  socket.on('error', () => {})
  try {
    const { port, release } = await workers.acquire(functionOf(request.url!))
    socket.once('close', release)
    // The request ends when it is answered. After that, only waitUntil keeps the worker running.
    const target = { ...targetOf(request, port), unavailable, answered: release }
    forwardUpgrade(request, socket, head, target)
    if (socket.destroyed) release()
  } catch (failure) {
    const { status, message, retryAfter } = failure as Failure
    endSocket(socket, `${status} Refused`, message, retryAfter)
  }
}
