/** Further processes of the functions, with settings of their own, on the stack of the suite. */
import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'vitest'
import { launch } from '../local/children.ts'
import { functionsProgram } from '../local/functions-process.ts'
import { logFile } from '../local/logs.ts'
import { functionsEnvironment, readStack } from '../local/stack.ts'
import { projectUrl, type Reply, seen } from './client.ts'

const folder = process.env.LOCAL_STACK

export type Functions = {
  base: string
  /** As the gateway would hand it on: the address is the last entry of X-Forwarded-For. */
  post: (path: string, body: unknown, headers?: Record<string, string>) => Promise<Reply>
  get: (path: string, headers?: Record<string, string>) => Promise<Reply>
  log: () => string
  stop: () => Promise<void>
}

/** Settings that are undefined are missing in that process. */
export async function startFunctions(
  settings: Record<string, string | undefined>,
): Promise<Functions> {
  const stack = readStack({ PORT: new URL(projectUrl).port, LOCAL_DATA: folder, RATES: 'off' })
  const port = await freePort()
  const name = `functions-${port}`
  const given = { ...functionsEnvironment(stack, {}), ...settings }
  const running = await launch({
    ...functionsProgram(stack, {
      name,
      port,
      functions: stack.config.functions.filter((one) => one.name === 'api'),
      settings: Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      ),
    }),
    quiet: true,
  })
  const base = `http://127.0.0.1:${port}/api`
  const file = logFile(stack.dataDir, name)
  const ask = async (method: string, path: string, headers: object, body?: unknown) => {
    const response = await fetch(base + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await response.text()
    const reply = {
      status: response.status,
      body: text ? JSON.parse(text) : null,
      headers: response.headers,
    }
    if (response.headers.has('x-request-id')) await seen(method, path, reply)
    return reply
  }
  return {
    base,
    post: (path, body, headers = {}) => ask('POST', path, headers, body),
    get: (path, headers = {}) => ask('GET', path, headers),
    log: () => readFileSync(file, 'utf8'),
    stop: async () => {
      await running.stop()
      rmSync(file, { force: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Tests that need the embedded stack: its processes, its folder. */
export const testLocally = test.runIf(folder)
if (!folder) console.log('LOCAL_STACK is not set: tests that start processes are left out.')
