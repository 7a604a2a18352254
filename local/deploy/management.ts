// A client of the Management API, for settings that the CLI cannot set and for reading settings back.
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../config/user-error.ts'

export type Management = {
  get: <T>(path: string) => Promise<T>
  /** Sends a request. Only a response of 429 is retried. */
  send: <T>(method: 'POST' | 'PATCH' | 'PUT', path: string, body: unknown) => Promise<T>
}

const timeLimit = 60_000
const tries = 4

export function openManagement(base: string, ref: string, token: string): Management {
  async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
    for (let attempt = 1;; attempt++) {
      const response = await fetch(`${base}/v1/projects/${ref}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(timeLimit),
      }).catch((error: Error) => error)
      const unsaid = response instanceof Error || response.status >= 500
      const again = method === 'GET' && unsaid ||
        response instanceof Response && response.status === 429
      if (again && attempt < tries) {
        const delay = response instanceof Response && Number(response.headers.get('retry-after'))
        await sleep(delay ? Math.min(delay, 60) * 1000 : 500 * 2 ** attempt)
        continue
      }
      if (response instanceof Error) {
        throw new UserError(`${method} ${path}: no answer from ${base}.`)
      }
      const text = await response.text()
      if (!response.ok) {
        // An error about secrets may repeat their values, so it is not shown.
        const why = path === '/secrets' ? '' : sentence(text)
        throw new UserError(`${method} ${path || 'the project'}: ${response.status}${why}`)
      }
      return (text ? JSON.parse(text) : undefined) as T
    }
  }
  return { get: (path) => ask('GET', path), send: ask }
}

function sentence(text: string): string {
  try {
    const { message } = JSON.parse(text)
    return message ? `, ${String(message)}` : ''
  } catch {
    return ''
  }
}
