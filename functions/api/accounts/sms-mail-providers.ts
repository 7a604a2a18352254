/** SMS and mail providers, chosen by SMS_PROVIDER and MAIL_PROVIDER; none when not configured. */

import { alarm } from '../../_shared/alarms.ts'
import { secret, setting } from '../../_shared/read-setting.ts'
import { type SettingName, settings } from '../../_shared/settings.ts'

/** Hands over one message; throws unless the provider took it. */
export type Send = (to: string, body: string, code: string) => Promise<void>

const given = (name: SettingName) => settings[name].secret ? secret(name) : setting(name)

/** Settings of a provider, or undefined with a log line that names what is missing. */
function needs<Name extends SettingName>(provider: string, ...names: Name[]) {
  const missing = names.filter((name) => !given(name))
  if (missing.length) {
    alarm('provider_not_configured', provider, { missing })
    return undefined
  }
  return Object.fromEntries(names.map((name) => [name, given(name)!])) as Record<Name, string>
}

// fetch repeats a request of its own accord when a kept connection breaks. No message goes out twice.
const freshConnections = Deno.createHttpClient?.({ poolMaxIdlePerHost: 0 })

async function post(url: string, headers: Record<string, string>, body: BodyInit) {
  const response = await fetch(url, {
    client: freshConnections,
    method: 'POST',
    headers,
    body,
    redirect: 'error',
    signal: AbortSignal.timeout(4000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`HTTP ${response.status} ${refusalCode(text)}`.trim())
  return text
}

/** The provider's own code for what went wrong: never its text, which may repeat the number. */
function refusalCode(text: string): string {
  return /"(?:code|errorCode|ErrorCode)" *: *"?([\w-]{1,20})/.exec(text)?.[1] ?? ''
}

// A stub can stand in for a provider: tests and local experiments set SMS_URL or MAIL_URL.
const at = (usual: string, name: 'SMS_URL' | 'MAIL_URL') => setting(name) ?? usual

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

function kwtSms(): Send | undefined {
  const given = needs('kwtsms', 'SMS_USERNAME', 'SMS_PASSWORD', 'SMS_SENDER')
  if (!given) return undefined
  return async (to, message) => {
    const answer = await post(
      at('https://www.kwtsms.com/API/send/', 'SMS_URL'),
      json,
      JSON.stringify({
        username: given.SMS_USERNAME,
        password: given.SMS_PASSWORD,
        sender: given.SMS_SENDER,
        mobile: to.slice(1),
        message,
        test: '0',
      }),
    )
    // Its HTTP status alone says nothing.
    if (JSON.parse(answer).result !== 'OK') throw new Error(refusalCode(answer) || 'refused')
  }
}

function twilio(): Send | undefined {
  const given = needs('twilio', 'SMS_ACCOUNT_SID', 'SMS_AUTH_TOKEN', 'SMS_SENDER')
  if (!given) return undefined
  const account = given.SMS_ACCOUNT_SID
  const authorization = `Basic ${btoa(`${account}:${given.SMS_AUTH_TOKEN}`)}`
  const sender = given.SMS_SENDER.startsWith('MG') ? 'MessagingServiceSid' : 'From'
  return async (to, body) => {
    await post(
      at(`https://api.twilio.com/2010-04-01/Accounts/${account}/Messages.json`, 'SMS_URL'),
      { ...form, authorization },
      new URLSearchParams({ To: to, [sender]: given.SMS_SENDER, Body: body }),
    )
  }
}

function unifonic(): Send | undefined {
  const given = needs('unifonic', 'SMS_APP_SID', 'SMS_SENDER')
  if (!given) return undefined
  return async (to, body) => {
    const answer = await post(
      at('https://el.cloud.unifonic.com/rest/SMS/messages', 'SMS_URL'),
      form,
      new URLSearchParams({
        AppSid: given.SMS_APP_SID,
        SenderID: given.SMS_SENDER,
        Recipient: to.slice(1),
        Body: body,
        responseType: 'JSON',
      }),
    )
    if (String(JSON.parse(answer).success) !== 'true') {
      throw new Error(refusalCode(answer) || 'refused')
    }
  }
}

const subject = 'رمز التحقق'

function resend(): Send | undefined {
  const given = needs('resend', 'MAIL_API_KEY', 'MAIL_FROM')
  if (!given) return undefined
  return async (to, text) => {
    await post(
      at('https://api.resend.com/emails', 'MAIL_URL'),
      { ...json, authorization: `Bearer ${given.MAIL_API_KEY}` },
      JSON.stringify({ from: given.MAIL_FROM, to: [to], subject, text }),
    )
  }
}

function postmark(): Send | undefined {
  const given = needs('postmark', 'MAIL_API_KEY', 'MAIL_FROM')
  if (!given) return undefined
  return async (to, text) => {
    await post(
      at('https://api.postmarkapp.com/email', 'MAIL_URL'),
      { ...json, 'x-postmark-server-token': given.MAIL_API_KEY },
      JSON.stringify({ From: given.MAIL_FROM, To: to, Subject: subject, TextBody: text }),
    )
  }
}

function chosen(
  name: SettingName,
  providers: Record<string, () => Send | undefined>,
): Send | undefined {
  const wanted = setting(name)
  if (!wanted) return undefined
  if (Object.hasOwn(providers, wanted)) return providers[wanted]()
  throw new Error(`The setting ${name} must be one of ${Object.keys(providers).join(', ')}.`)
}

export const sendSms = chosen('SMS_PROVIDER', { twilio, kwtsms: kwtSms, unifonic })
export const sendMail = chosen('MAIL_PROVIDER', { resend, postmark })
