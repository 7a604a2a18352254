/** People talking to a further process of the functions, which has settings of its own. */
import { test } from 'vitest'
import { type Reply, seen } from './client.ts'
import { hasStack, startFacade } from './facade.ts'

type Ask = (path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>

export type Functions = {
  base: string
  /** As the gateway would hand it on: the client's address is the last entry of X-Forwarded-For. */
  post: Ask
  get: (path: string, headers?: Record<string, string>) => Promise<Reply>
  log: () => string
  stop: () => Promise<void>
}

/** Settings that are undefined are missing in that process. */
export async function startFunctions(
  settings: Record<string, string | undefined>,
): Promise<Functions> {
  const { url, said, stop } = await startFacade(settings)
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await response.text()
    const parsed = text ? JSON.parse(text) : null
    const reply = { status: response.status, body: parsed, headers: response.headers }
    if (response.headers.has('x-request-id')) await seen(method, path, reply)
    return reply
  }
  return {
    base: url,
    post: (path, body, headers) => ask('POST', path, body, headers),
    get: (path, headers) => ask('GET', path, undefined, headers),
    log: said,
    stop,
  }
}

/** Tests that need the embedded stack: its processes, its folder. */
export const testLocally = test.runIf(hasStack)
if (!hasStack) console.log('LOCAL_STACK is not set: tests that start processes are left out.')
