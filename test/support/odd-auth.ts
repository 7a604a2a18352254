/** The project behind a proxy that answers some sign-ins by id token itself, as Auth in trouble does. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { projectUrl } from './client.ts'

type Said = { status: number; body: unknown }

export type OddAuth = Awaited<ReturnType<typeof startOddAuth>>

export async function startOddAuth() {
  const waiting = new Map<string, Said[]>()
  const server = createServer(async (asked, response) => {
    const parts: Buffer[] = []
    for await (const part of asked) parts.push(part)
    const body = Buffer.concat(parts)
    const said = asked.url!.includes('grant_type=id_token')
      ? waiting.get(JSON.parse(body.toString()).id_token)?.shift()
      : undefined
    if (said) {
      response.writeHead(said.status, { 'content-type': 'application/json' })
      return response.end(JSON.stringify(said.body))
    }
    const { method, headers } = asked
    const onward = request(projectUrl + asked.url!, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    onward.end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What the next sign-ins with a token are told; after these Auth answers. */
    answers: (idToken: string, all: Said[]) => waiting.set(idToken, [...all]),
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}
