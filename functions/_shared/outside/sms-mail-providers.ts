import { alarm } from '../errors/alarms.ts'
import { toBase64 } from '../input/bytes.ts'
import { providerSettings } from '../settings/provider-settings.ts'
import { secret, setting } from '../settings/read-setting.ts'
import { type SettingName, settings } from '../settings/settings.ts'
import { fetchOnce, formType, jsonType, textOf } from './http-client.ts'

/** An SMS contains only the text. */
export type Message = { subject: string; text: string; code?: string }

/** Sends one message. Throws unless the provider accepted it. */
export type Send = (to: string, message: Message) => Promise<void>

const given = (name: SettingName) => settings[name].secret ? secret(name) : setting(name)

function needs<Name extends SettingName>(provider: string, names: readonly Name[]) {
  const missing = names.filter((name) => !given(name))
  if (missing.length) {
    alarm('provider_not_configured', provider, { missing })
    return undefined
  }
  return Object.fromEntries(names.map((name) => [name, given(name)!])) as Record<Name, string>
}

async function post(url: string, headers: Record<string, string>, body: BodyInit) {
  const response = await fetchOnce(url, { method: 'POST', headers, body })
  const text = await textOf(response)
  if (!response.ok) throw new Error(`HTTP ${response.status} ${errorCodeIn(text)}`.trim())
  return text
}

/** Extracts only the provider's error code, because the rest of the response may contain the phone number. */
function errorCodeIn(text: string): string {
  return /"(?:code|errorCode|ErrorCode)" *: *"?([\w-]{1,20})/.exec(text)?.[1] ?? ''
}

const endpoint = (fallback: string, name: 'SMS_URL' | 'MAIL_URL') => setting(name) ?? fallback

function kwtSms(): Send | undefined {
  const given = needs('kwtsms', providerSettings.SMS_PROVIDER.kwtsms)
  if (!given) return undefined
  return async (to, { text }) => {
    const answer = await post(
      endpoint('https://www.kwtsms.com/API/send/', 'SMS_URL'),
      jsonType,
      JSON.stringify({
        username: given.SMS_USERNAME,
        password: given.SMS_PASSWORD,
        sender: given.SMS_SENDER,
        mobile: to.slice(1),
        message: text,
        test: '0',
      }),
    )
    // The HTTP status alone does not show whether the message was accepted.
    if (JSON.parse(answer).result !== 'OK') throw new Error(errorCodeIn(answer) || 'refused')
  }
}

function twilio(): Send | undefined {
  const given = needs('twilio', providerSettings.SMS_PROVIDER.twilio)
  if (!given) return undefined
  const account = given.SMS_ACCOUNT_SID
  const authorization = `Basic ${toBase64(`${account}:${given.SMS_AUTH_TOKEN}`)}`
  const sender = given.SMS_SENDER.startsWith('MG') ? 'MessagingServiceSid' : 'From'
  return async (to, { text }) => {
    await post(
      endpoint(`https://api.twilio.com/2010-04-01/Accounts/${account}/Messages.json`, 'SMS_URL'),
      { ...formType, authorization },
      new URLSearchParams({ To: to, [sender]: given.SMS_SENDER, Body: text }),
    )
  }
}

function unifonic(): Send | undefined {
  const given = needs('unifonic', providerSettings.SMS_PROVIDER.unifonic)
  if (!given) return undefined
  return async (to, { text }) => {
    const answer = await post(
      endpoint('https://el.cloud.unifonic.com/rest/SMS/messages', 'SMS_URL'),
      formType,
      new URLSearchParams({
        AppSid: given.SMS_APP_SID,
        SenderID: given.SMS_SENDER,
        Recipient: to.slice(1),
        Body: text,
        responseType: 'JSON',
      }),
    )
    if (String(JSON.parse(answer).success) !== 'true') {
      throw new Error(errorCodeIn(answer) || 'refused')
    }
  }
}

function resend(): Send | undefined {
  const given = needs('resend', providerSettings.MAIL_PROVIDER.resend)
  if (!given) return undefined
  return async (to, { subject, text }) => {
    await post(
      endpoint('https://api.resend.com/emails', 'MAIL_URL'),
      { ...jsonType, authorization: `Bearer ${given.MAIL_API_KEY}` },
      JSON.stringify({ from: given.MAIL_FROM, to: [to], subject, text }),
    )
  }
}

function postmark(): Send | undefined {
  const given = needs('postmark', providerSettings.MAIL_PROVIDER.postmark)
  if (!given) return undefined
  return async (to, { subject, text }) => {
    await post(
      endpoint('https://api.postmarkapp.com/email', 'MAIL_URL'),
      { ...jsonType, 'x-postmark-server-token': given.MAIL_API_KEY },
      JSON.stringify({ From: given.MAIL_FROM, To: to, Subject: subject, TextBody: text }),
    )
  }
}

function chosen<Name extends keyof typeof providerSettings>(
  name: Name,
  providers: Record<keyof typeof providerSettings[Name], () => Send | undefined>,
): Send | undefined {
  const chosen = setting(name) as keyof typeof providers | undefined
  return chosen && providers[chosen]()
}

export const sendSms = chosen('SMS_PROVIDER', { twilio, kwtsms: kwtSms, unifonic })
export const sendMail = chosen('MAIL_PROVIDER', { resend, postmark })
