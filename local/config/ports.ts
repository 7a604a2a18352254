import { createServer, type Server } from 'node:net'

// Below the ephemeral port range, so that no outgoing connection can take one of these ports first.
const [first, last] = [10_000, 32_000]
const size = 16

/**
 * Finds up to 15 consecutive free ports and returns the lowest. Until this process ends, it listens on the
 * last port of their block of 16, so that no other caller of this function gets the same block.
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
