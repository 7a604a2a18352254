import { expect, test } from 'vitest'
import { evaluate } from '../../local/docs/openapi.ts'

// The service has no deprecated route at present, so this program defines one, besides a
// normal route, and calls both.
const program = `
  const { OpenAPIHono, z } = await import('@hono/zod-openapi')
  const { area, body, json, route, send, withoutToken } = await import('api:http/route.ts')
  const { authenticate, logRequest } = await import('api:http/middleware.ts')
  const { describeApi } = await import('api:http/description.ts')
  const one = (name, more) => route({
    ...withoutToken,
    tags: ['meta'],
    operationId: name,
    method: 'post',
    path: '/' + name,
    summary: name,
    description: 'Says nothing.',
    request: body(z.strictObject({})),
    responses: { 200: json(z.object({}), 'Nothing.') },
    ...more,
  })
  const app = new OpenAPIHono()
  app.use(logRequest)
  app.use(authenticate)
  const routes = area()
  for (const ours of [one('stays'), one('goes', { deprecatedSince: '2027-02-01' })]) {
    routes.openapi(ours, (c) => send(c, '{}'))
  }
  app.route('/', routes)
  const ask = async (path, body) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await app.request(path, { method: 'POST', headers, body })
    return [answer.status, answer.headers.get('deprecation'), answer.headers.get('sunset')]
  }
  console.log(JSON.stringify({
    answers: [await ask('/stays', '{}'), await ask('/goes', '{}'), await ask('/goes', '{"more":1}')],
    paths: describeApi(app, 'https://example.com', {}).paths,
  }))`

test('a route that will go says so with every answer and in the description, a year ahead', () => {
  const { answers, paths } = JSON.parse(evaluate(program))
  const [stays, goes] = [paths['/stays'].post, paths['/goes'].post]
  const ends = ['@1801440000', 'Tue, 01 Feb 2028 00:00:00 GMT']
  expect(answers).toEqual([[200, null, null], [200, ...ends], [422, ...ends]])
  expect([stays.deprecated, stays.description]).toEqual([undefined, 'Says nothing.'])
  expect([goes.deprecated, goes.description]).toEqual([
    true,
    'Says nothing.\n\nDeprecated since 2027-02-01; may be gone from 2028-02-01 on.',
  ])
  const [before, after] = [stays, goes].map((one) => Object.keys(one.responses[200].headers))
  expect(after!.filter((name) => !before!.includes(name))).toEqual(['Deprecation', 'Sunset'])
})
