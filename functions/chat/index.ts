import { inBackground } from '../_shared/errors/background.ts'
import { env } from '../_shared/settings/env.ts'
import { closeCodes } from './protocol.ts'
import { serveEdgeSocket } from './server/edge-socket.ts'
import { agreedSubprotocol, namesIn, openGateway } from './server/gateway.ts'
import { refusalResponse } from './server/http-refusal.ts'

// On Supabase's smallest plan, a worker is ended 150 s after its start, even while it serves sockets.
const workerLife = (env.gatewayMaxAge || 140) * 1000
const begun = Date.now()

const gateway = openGateway({
  endOf: (opened) => opened < begun + workerLife ? begun + workerLife : opened + workerLife,
})

// The worker may end as soon as this handler returns, so everything must be sent synchronously.
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
  // Deno splits this header only at ", " and throws for a protocol that it does not find in the result.
  const offered = request.headers.get('sec-websocket-protocol') ?? ''
  const agreed = agreedSubprotocol(namesIn(offered))
  const protocol = offered.split(', ').find((name) => name === agreed)
  const { socket, response } = Deno.upgradeWebSocket(request, { protocol, idleTimeout: 60 })
  // Without pending background work, the runtime may end the worker early, even with open sockets.
  inBackground(serveEdgeSocket(socket, decision.open))
  return response
})
