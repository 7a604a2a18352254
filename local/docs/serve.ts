import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from '../http/answers.ts'
import { textFile } from './llms.ts'
import { siteFile } from './site.ts'

const api = '/functions/v1/api/'

export function serveDocs({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(url, 'http://docs')
  if (pathname === '/docs') return answer(response, 302, undefined, { location: '/docs/' })
  const name = pathname.slice('/docs/'.length) || 'index.html'
  const file = siteFile(name, api) ?? textFile(name, api)
  if (file === undefined) return answer(response, 404, { message: 'No such page' })
  const types: Record<string, string> = { js: 'javascript', md: 'markdown', txt: 'plain' }
  const type = `text/${types[name.split('.').at(-1)!] ?? 'html'}`
  response.writeHead(200, {
    'content-type': `${type}; charset=utf-8`,
    'x-content-type-options': 'nosniff',
  }).end(file)
}
