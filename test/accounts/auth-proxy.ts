// A proxy to the project. To simulate failures of Auth, it can answer sign-ins by id token itself.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { projectUrl } from '../support/client.ts'

type CannedAnswer = { status: number; body: unknown }

export type AuthProxy = Awaited<ReturnType<typeof startAuthProxy>>

export async function startAuthProxy() {
  const waiting = new Map<string, CannedAnswer[]>()
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = []
    for await (const part of incoming) parts.push(part)
    const body = Buffer.concat(parts)
    const said = incoming.url!.includes('grant_type=id_token')
      ? waiting.get(JSON.parse(body.toString()).id_token)?.shift()
      : undefined
    if (said) {
      response.writeHead(said.status, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(said.body))
    }
    const { method, headers } = incoming
    const onward = request(projectUrl + incoming.url!, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    onward.end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /**
     * Answers the next sign-ins with this id token with these responses, in order;
     * later ones are sent on to Auth.
     */
    answerNext: (idToken: string, all: CannedAnswer[]) => waiting.set(idToken, [...all]),
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}
