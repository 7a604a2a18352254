import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { variable } from '../../local/config/environment.ts'
import { toFunctions, upgradeFunction } from '../../local/proxy/functions.ts'
import { readStack } from '../../local/config/stack.ts'
import { Workers } from '../../local/functions/workers.ts'
import { projectUrl } from './client.ts'
import { defaultSettings } from './facade.ts'

type Choice = {
  /** A worker's lifetime in seconds. */
  life: number
  settings?: Record<string, string>
  /** The source code of functions by name, which run instead of the project's functions. */
  functions?: Record<string, string>
}

type OwnWorkers = {
  url: string
  calls: () => number
  used: () => number
  stop: () => Promise<void>
}

export async function startWorkers({ life, settings, functions }: Choice): Promise<OwnWorkers> {
  const stack = readStack({
    ...process.env,
    PORT: new URL(projectUrl).port,
    LOCAL_DATA: variable('LOCAL_STACK'),
    RATES: 'off',
    NODE_ENV: 'test',
    WORKER_LIFE: String(life),
  })
  if (functions) {
    stack.config.functions = Object.entries(functions).map(([name, text]) => ({
      name,
      entrypoint: `data:application/typescript,${encodeURIComponent(text)}`,
    }))
  }
  const ports = new Set<number>()
  const workers = new Workers(stack, { ...defaultSettings(), GATEWAY_MESSAGES: '0', ...settings })
  const acquire = workers.acquire.bind(workers)
  let calls = 0
  workers.acquire = async (name) => {
    calls++
    const lease = await acquire(name)
    ports.add(lease.port)
    return lease
  }
  const server = createServer((request, response) => void toFunctions(workers, request, response))
  server.on(
    'upgrade',
    (request, socket, head) => void upgradeFunction(workers, request, socket as Socket, head),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/functions/v1`,
    calls: () => calls,
    used: () => ports.size,
    stop: async () => {
      await workers.close()
      server.close()
      server.closeAllConnections()
    },
  }
}
