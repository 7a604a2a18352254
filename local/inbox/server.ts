// The inbox, which receives the SMS and emails of a stack that has no provider for them.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { bodyOf } from '../http/body.ts'

type Message = {
  to: string
  kind: 'sms' | 'email'
  body: string
  code: string | null
  createdAt: string
}

const mostStored = 5000
const bodyLimit = 64 * 1024

/** Normalises phone numbers and emails, so that all spellings match. A + in a query arrives as a space. */
const nameOf = (to: string) =>
  to.includes('@') ? to.trim().toLowerCase() : to.replace(/\D/g, '').slice(-8)

/** Opens the inbox: POST /messages adds a message, GET /messages?to= lists messages, GET / shows them. */
export function openInbox(): Server {
  const messages: Message[] = []
  return createServer(async (request, response) => {
    const url = URL.parse(request.url!, 'http://inbox')
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, {
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'self' 'unsafe-inline'; img-src data:",
      }).end(body)
    const json = (status: number, value: unknown) =>
      send(status, 'application/json', JSON.stringify(value))
    if (!url) return json(400, { message: 'bad request' })
    if (url.pathname === '/' && request.method === 'GET') return send(200, 'text/html', page)
    if (url.pathname !== '/messages') return json(404, { message: 'not found' })
    if (request.method === 'GET') {
      const name = nameOf(url.searchParams.get('to') ?? '')
      return json(200, messages.filter(({ to }) => name === '' || nameOf(to) === name))
    }
    if (request.method !== 'POST') return json(405, { message: 'method not allowed' })
    const message = await readMessage(request)
    if (!message) return json(422, { message: 'to, kind (sms or email) and body are required' })
    messages.unshift(message)
    messages.length = Math.min(messages.length, mostStored)
    return json(201, {})
  })
}

async function readMessage(request: IncomingMessage): Promise<Message | undefined> {
  try {
    const { to, kind, body, code } = JSON.parse(String(await bodyOf(request, bodyLimit)))
    if (typeof to !== 'string' || typeof body !== 'string') return undefined
    if (kind !== 'sms' && kind !== 'email') return undefined
    return { to, kind, body, code: code ?? null, createdAt: new Date().toISOString() }
  } catch {
    return undefined
  }
}

const page = `<!doctype html>
<html lang="ar" dir="rtl">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><text y='13' font-size='13'>✉️</text></svg>">
<title>صندوق الرسائل المحلي</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem }
  h1 { font-size: 1.2rem }
  input { font: inherit; width: 100%; padding: .4rem .6rem; box-sizing: border-box }
  article { border: 1px solid #ccc; border-radius: .5rem; padding: .6rem 1rem; margin: .8rem 0 }
  header { display: flex; justify-content: space-between; color: #666; font-size: .85rem }
  p { margin: .3rem 0; white-space: pre-wrap; overflow-wrap: anywhere }
  b { font-size: 1.3rem; letter-spacing: .15em }
  @media (prefers-color-scheme: dark) { body { background: #161616; color: #eee } }
</style>
<h1>صندوق الرسائل المحلي · Local inbox</h1>
<input id="to" dir="auto" placeholder="الهاتف أو البريد · phone or email">
<main id="list">لا رسائل بعد · nothing yet</main>
<script>
  const part = (name, text, dir) => {
    const element = document.createElement(name)
    element.textContent = text
    if (dir) element.dir = dir
    return element
  }
  let shown = ''
  const load = async () => {
    const to = document.getElementById('to').value
    const text = await (await fetch('/messages?to=' + encodeURIComponent(to))).text()
    if (text === shown) return
    shown = text
    const list = document.getElementById('list')
    list.replaceChildren(...JSON.parse(text).slice(0, 100).map((message) => {
      const article = document.createElement('article')
      const header = document.createElement('header')
      header.append(part('span', message.to, 'ltr'), part('span', message.kind, 'ltr'),
        part('time', new Date(message.createdAt).toLocaleTimeString('ar-KW', { timeZone: 'Asia/Kuwait' }), 'auto'))
      article.append(header, part('p', message.body, 'auto'))
      if (message.code) article.append(part('b', message.code, 'ltr'))
      return article
    }))
    if (!list.firstChild) list.textContent = 'لا رسائل بعد · nothing yet'
  }
  const again = () => load().catch(() => {}).finally(() => setTimeout(again, 1500))
  document.getElementById('to').addEventListener('input', () => load().catch(() => {}))
  again()
</script>
</html>
`
