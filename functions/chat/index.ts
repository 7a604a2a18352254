/** Edge function `chat`: the gateway on the sockets of the platform. */
import { inBackground } from '../_shared/background.ts'
import { env } from '../_shared/env.ts'
import { closeCodes } from './protocol.ts'
import { serveEdgeSocket } from './server/edge-socket.ts'
import { agreedSubprotocol, namesIn, openGateway } from './server/gateway.ts'
import { refusalResponse } from './server/http-refusal.ts'

// A worker ends 150 s after its start on the smallest plan, whoever it serves.
const workerLife = (env.gatewayMaxAge || 140) * 1000
const begun = Date.now()

const gateway = openGateway({
  endOf: (opened) => opened < begun + workerLife ? begun + workerLife : opened + workerLife,
})

// Right after this event the worker may be gone: what is not sent in it is not sent.
addEventListener('beforeunload', () => gateway.close(closeCodes.tooOld, 'connect again'))

Deno.serve((request) => {
  const { pathname, searchParams } = new URL(request.url)
  const decision = gateway.decide({
    path: pathname,
    query: searchParams,
    headers: request.headers,
  })
  if ('refuse' in decision) {
    const { body, ...answer } = refusalResponse(decision)
    return new Response(body, answer)
  }
  // The runtime knows a list by ", " alone; naming what it does not find there would be an error.
  const offered = request.headers.get('sec-websocket-protocol') ?? ''
  const agreed = agreedSubprotocol(namesIn(offered))
  const protocol = offered.split(', ').find((name) => name === agreed)
  const { socket, response } = Deno.upgradeWebSocket(request, { protocol, idleTimeout: 60 })
  // A worker that nothing waits for is dropped in the middle of its life, open sockets or not.
  inBackground(serveEdgeSocket(socket, decision.open))
  return response
})
