// Finds the methods that a path supports, for 405 responses, which Hono does not generate itself.
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { ApiEnv } from '../../_shared/caller/context.ts'

export function methodsOf(app: OpenAPIHono<ApiEnv>): (path: string) => string[] {
  const patterns = new Map<string, { pattern: RegExp; methods: Set<string> }>()
  for (const { method, path } of app.routes) {
    if (method === 'ALL') continue
    const pattern = new RegExp(`^${path.replace(/:[^/]+/g, '[^/]+')}$`)
    const known = patterns.get(path) ?? { pattern, methods: new Set() }
    known.methods.add(method)
    patterns.set(path, known)
  }
  return (path) => [
    ...new Set(
      [...patterns.values()].flatMap(({ pattern, methods }) =>
        pattern.test(path) ? [...methods] : []
      ),
    ),
  ]
}
