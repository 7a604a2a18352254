import { createServer, type Server } from 'node:net'

// These ports lie below the range of outgoing connections, which could take a port first.
const [first, last] = [10_000, 32_000]
const size = 16

/**
 * Finds up to 15 free ports in a row and returns the lowest. This process listens on the last port of their
 * block until it ends, so that another caller of this function cannot get the same block.
 */
export async function freePorts(count: number): Promise<number> {
  for (;;) {
    const port = first + size * Math.floor(Math.random() * (last - first) / size)
    const guard = await listenOn(port + size - 1)
    if (!guard) continue
    const free = await Promise.all(Array.from({ length: count }, (_, i) => isFree(port + i)))
    if (free.every(Boolean)) {
      guard.unref()
      return port
    }
    guard.close()
  }
}

function listenOn(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port)
  await new Promise((resolve) => server ? server.close(resolve) : resolve(undefined))
  return server !== undefined
}
