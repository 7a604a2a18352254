import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Sms = { to: string; body: string; sender: string }

export type Answer = (response: ServerResponse) => void

export type SmsStub = {
  url: string
  sent: Sms[]
  /**
   * Responses for particular phones, keyed by the digits of the number; messages to all other phones succeed.
   */
  answers: Map<string, Answer>
  stop: () => Promise<void>
}

export async function startSmsStub(): Promise<SmsStub> {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const form = request.headers['content-type']?.includes('form')
    const given: Record<string, string> = form
      ? Object.fromEntries(new URLSearchParams(text))
      : JSON.parse(text)
    const to = given.To ?? given.Recipient ?? given.mobile ?? ''
    stub.sent.push({
      to,
      body: given.Body ?? given.message ?? '',
      sender: given.From ?? given.SenderID ?? given.sender ?? '',
    })
    const answer = stub.answers.get(to.replace('+', ''))
    if (answer) return answer(response)
    response.writeHead(given.To ? 201 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ sid: 'SM1', result: 'OK', success: 'true' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stub: SmsStub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: [],
    answers: new Map(),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return stub
}
