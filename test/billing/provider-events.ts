import { checkReply, type Person } from '../support/client.ts'
import type { Facade } from '../support/facade.ts'

// deno-lint-ignore no-explicit-any
export type Json = any

export async function ask(facade: Facade, path: string, sent: Json, headers: Json = {}) {
  const response = await fetch(facade.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(sent),
  })
  const reply = {
    status: response.status,
    headers: response.headers,
    body: JSON.parse(await response.text()),
  }
  if (response.headers.has('x-request-id')) await checkReply('POST', path, reply, sent)
  return reply
}

export const bearer = ({ accessToken, proof }: Person) => ({
  authorization: `Bearer ${accessToken}`,
  ...(proof && { 'x-proof': proof }),
})
