import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from '../http/answers.ts'
import { siteFile } from './site.ts'

const api = '/functions/v1/api/'

export function serveDocs({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(url, 'http://docs')
  if (pathname === '/docs') return answer(response, 302, undefined, { location: '/docs/' })
  const name = pathname.slice('/docs/'.length) || 'index.html'
  const file = siteFile(name, api)
  if (file === undefined) return answer(response, 404, { message: 'No such page' })
  const type = name.endsWith('.js') ? 'text/javascript' : 'text/html'
  response.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'x-content-type-options': 'nosniff',
  }).end(file)
}
