import { createServer } from 'node:net'

// Below the range of outgoing connections, one of which could take a port first.
const [first, last] = [10_000, 32_000]

/** One for each worker of each group of tests (vitest.config.ts), so that no two choose the same port. */
const shares = 20
const { VITEST_GROUP, VITEST_POOL_ID } = process.env
const share = (Number(VITEST_GROUP ?? 0) * 4 + Number(VITEST_POOL_ID ?? 0)) % shares

/** Finds free ports in a row; returns the lowest. */
export async function freePorts(count: number): Promise<number> {
  const size = (last - first) / shares
  for (;;) {
    const port = Math.floor(first + share * size + Math.random() * (size - count))
    const free = await Promise.all(Array.from({ length: count }, (_, i) => isFree(port + i)))
    if (free.every(Boolean)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
