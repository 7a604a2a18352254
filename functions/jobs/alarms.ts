// Forwards alarms to ALARM_WEBHOOK, which reaches the team even when nobody has an app open.
import { backend } from '../_shared/database/db.ts'
import { alarm, settleAlarm } from '../_shared/errors/alarms.ts'
import { fromBase64 } from '../_shared/input/bytes.ts'
import { hmacSha256 } from '../_shared/input/hashes.ts'
import { fetchOnce, jsonType } from '../_shared/outside/http-client.ts'
import { env } from '../_shared/settings/env.ts'
import { secret, setting } from '../_shared/settings/read-setting.ts'

type Raised = {
  id: number
  kind: string
  subject: string
  details: Record<string, unknown>
  raisedAt: string
  settledAt: string | null
}

const service = new URL(env.apiUrl).host

const lineOf = ({ kind, subject, raisedAt, settledAt }: Raised) =>
  `${kind}: ${subject} (${service}, ${raisedAt}${settledAt ? ', settled since' : ''})`

const slackEscapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

const formats: Record<string, (raised: Raised) => unknown> = {
  json: (raised) => ({
    type: 'alarm.raised',
    timestamp: raised.raisedAt,
    data: { service, ...raised },
  }),
  slack: (raised) => ({
    text: lineOf(raised).replace(/[&<>]/g, (character) => slackEscapes[character]!),
  }),
  // A TextRun, because Teams would render the text of a TextBlock as Markdown.
  teams: (raised) => ({
    type: 'message',
    attachments: [{
      contentType: 'application/vnd.microsoft.card.adaptive',
      content: {
        $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
        type: 'AdaptiveCard',
        version: '1.4',
        body: [{
          type: 'RichTextBlock',
          inlines: [{ type: 'TextRun', text: lineOf(raised) }],
        }],
      },
    }],
  }),
}

const format = setting('ALARM_WEBHOOK_FORMAT')!
const key = secret('ALARM_WEBHOOK_SECRET')?.replace('whsec_', '')

/**
 * The URL that receives alarms. Undefined if none is set, or if the JSON format has no secret to sign with.
 */
function receiver(): string | undefined {
  const address = secret('ALARM_WEBHOOK')
  if (!address || key || format !== 'json') return address
  void alarm('provider_not_configured', 'alarm_webhook', { missing: ['ALARM_WEBHOOK_SECRET'] })
  return undefined
}

const address = receiver()

/** Signs the body as Standard Webhooks requires. When an alarm is sent again, it keeps its id. */
function signed(id: string, body: string): Record<string, string> {
  if (!key) return {}
  const timestamp = String(Math.floor(Date.now() / 1000))
  const signature = hmacSha256(fromBase64(key), `${id}.${timestamp}.${body}`, 'base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
}

async function send(address: string, raised: Raised): Promise<boolean> {
  const body = JSON.stringify(formats[format](raised))
  const headers = { ...jsonType, ...signed(`alarm_${raised.id}`, body) }
  let cause: string
  try {
    const response = await fetchOnce(address, { method: 'POST', headers, body })
    await response.body?.cancel()
    if (response.ok) {
      await backend('finish_alarm', { id: raised.id })
      return true
    }
    cause = `HTTP ${response.status}`
  } catch (error) {
    // The error message may contain the URL, which is a secret.
    cause = (error as Error).name
  }
  await alarm('alarms_unsent', 'alarm_webhook', { cause })
  return false
}

/** Job: sends a batch of alarms in parallel. Alarms that could not be sent are retried. */
export async function sendAlarms(): Promise<number> {
  if (!address) return 0
  const raised = await backend<Raised[]>('take_alarms', {})
  const sent = await Promise.all(raised.map((one) => send(address, one)))
  if (sent.length && sent.every(Boolean)) settleAlarm('alarms_unsent', 'alarm_webhook')
  return sent.filter(Boolean).length
}
