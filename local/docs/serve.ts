import type { IncomingMessage, ServerResponse } from 'node:http'
import { exactly } from '../../functions/api/http/plain-schemas.ts'
import { answer } from '../http/answers.ts'
import { textFile } from './llms.ts'
import type { Api } from './reference.ts'
import { siteFile } from './site.ts'

const api = '/functions/v1/api/'
const isOfDescription = /^(reference|search-index)/

/** Serves the documentation. The reference describes the functions as they are running. */
export async function serveDocs(
  project: string,
  { url = '' }: IncomingMessage,
  to: ServerResponse,
) {
  const { pathname } = new URL(url, 'http://docs')
  if (pathname === '/docs') return answer(to, 302, undefined, { location: '/docs/' })
  const name = pathname.slice('/docs/'.length) || 'index.html'
  const description = isOfDescription.test(name) ? await readDescription(project) : none
  if (!description && name.startsWith('reference')) {
    return answer(to, 503, { message: 'The functions do not answer' })
  }
  const given = [name, description ?? none, api] as const
  const file = siteFile(...given) ?? textFile(...given)
  if (file === undefined) return answer(to, 404, { message: 'No such page' })
  const types: Record<string, string> = { js: 'javascript', md: 'markdown', txt: 'plain' }
  const type = `text/${types[name.split('.').at(-1)!] ?? 'html'}`
  to.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'x-content-type-options': 'nosniff',
  }).end(file)
}

const none = { tags: [], paths: {} } as unknown as Api

async function readDescription(project: string): Promise<Api | undefined> {
  const response = await fetch(`${project}${api}openapi.json`).catch(() => undefined)
  return response?.ok ? exactly(await response.json() as Api) : undefined
}
