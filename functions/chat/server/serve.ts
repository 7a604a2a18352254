/** The gateway on a port of its own, where sockets may live as long as the process. */
import { env } from '../../_shared/env.ts'
import { openGateway } from './gateway.ts'
import { closes } from '../protocol.ts'
import { serveSockets } from './sockets.ts'

export function serveChat(options: { hostname: string; port: number }) {
  const age = env.gatewayMaxAge * 1000 || Infinity
  const gateway = openGateway({ endOf: (opened) => opened + age })
  const server = serveSockets(options, gateway.decide)
  return {
    port: server.port,
    /** Closes every socket with 1001 and ends. */
    stop: async () => {
      await gateway.stop(closes.stopping)
      await server.close()
    },
  }
}
