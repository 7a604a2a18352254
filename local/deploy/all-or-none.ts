// Even if the CLI fails to bundle a function, it activates the others. To prevent this, deploy makes the CLI
// call the Management API through a local proxy, which rejects the activation after a failure.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { UserError } from '../config/user-error.ts'

const timeLimit = 300_000

export async function allOrNone(apiUrl: string, work: (url: string) => Promise<void>) {
  const failed = new Map<string, string>()
  const server = createServer(async (request, response) => {
    const url = new URL(request.url!, apiUrl)
    const slug = request.method === 'POST' && url.searchParams.get('slug')
    const say = (status: number, text: string) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(text)
    }
    try {
      const body = await buffer(request)
      if (request.method === 'PUT' && failed.size) {
        return say(409, '{"message":"nothing is swapped in"}')
      }
      const { authorization, 'content-type': type, 'user-agent': agent } = request.headers
      const answer = await fetch(url, {
        method: request.method!,
        headers: Object.fromEntries(
          Object.entries({ authorization, 'content-type': type, 'user-agent': agent })
            .filter(([, value]) => value),
        ) as Record<string, string>,
        ...(body.length && { body: new Uint8Array(body) }),
        signal: AbortSignal.timeout(timeLimit),
      })
      const text = await answer.text()
      if (slug && answer.ok) failed.delete(slug)
      else if (slug) failed.set(slug, `${answer.status} ${text}`)
      say(answer.status, text)
    } catch (error) {
      if (slug) failed.set(slug, String(error))
      say(502, '{"message":"no answer"}')
    }
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  } catch (error) {
    if (!failed.size) throw error
    const reasons = [...failed].map(([slug, reason]) => `${slug}: ${reason.slice(0, 2000)}`)
    throw new UserError(`Nothing was swapped in.\n${reasons.join('\n')}`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
