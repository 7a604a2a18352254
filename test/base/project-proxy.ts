import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { projectUrl } from '../support/client.ts'

/** Responds to a request instead of the project. If it sends nothing, the caller keeps waiting. */
type Answer = (
  response: ServerResponse,
  sent: string,
  headers: IncomingHttpHeaders,
) => void | Promise<void>

export const jsonAnswer = (status: number, body: unknown) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

export async function startProjectProxy() {
  const requests: string[] = []
  /**
   * Responses keyed by path, or by method and path. A key that ends with a slash matches
   * all paths directly below it.
   */
  const answers = new Map<string, Answer>()
  const server = createServer(async (request, response) => {
    const path = request.url!.split('?')[0]!
    requests.push(`${request.method} ${path}`)
    const body: Buffer[] = []
    for await (const part of request) body.push(part)
    const [own] = [path, path.replace(/[^/]*$/, '')].flatMap((each) =>
      answers.get(`${request.method} ${each}`) ?? answers.get(each) ?? []
    )
    if (own) return await own(response, Buffer.concat(body).toString(), request.headers)
    const headers = { ...request.headers }
    for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) {
      delete headers[name]
    }
    const reply = await fetch(projectUrl + request.url, {
      method: request.method,
      headers: headers as Record<string, string>,
      body: body.length ? Buffer.concat(body) : undefined,
    }).catch(() => undefined)
    if (!reply) return response.destroy()
    const type = reply.headers.get('content-type')
    response.writeHead(reply.status, type ? { 'content-type': type } : {})
    response.end(Buffer.from(await reply.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    settings: {
      SUPABASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      AUTH_ISSUER: `${projectUrl}/auth/v1`,
    },
    answers,
    takeRequests: () => requests.splice(0),
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
