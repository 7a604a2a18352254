// Checks the chat frames and events of tests against GET /asyncapi.json.
import { variable } from '../../local/config/environment.ts'
import { validatorOf } from '../../local/docs/validators.ts'
import { seen } from './known-fields.ts'
import type { Schema } from './openapi.ts'

type Message = { payload?: { $ref: string } }
type ChannelName = 'gateway' | 'account' | 'conversation'
type Events = {
  channels: Record<ChannelName, { messages: Record<string, Message> }>
  components: { schemas: Record<string, Schema> }
}

const { channels, components }: Events = await (
  await fetch(`${variable('SUPABASE_URL')}/functions/v1/api/asyncapi.json`)
).json()

const validate = validatorOf(components.schemas)

export function faultOf(channel: ChannelName, name: string, value: unknown) {
  const payload = channels[channel].messages[name]?.payload
  return payload ? validate(payload, value, name) : `${name} is not described`
}

/** Checks a message and returns it without the fields that an older client would ignore. */
export function check<T>(channel: ChannelName, name: string, value: T): T {
  const payload = channels[channel].messages[name]?.payload
  const message = payload ? seen(value, payload, components.schemas) : value
  const fault = faultOf(channel, name, message)
  if (fault) throw new Error(`${fault}\n${JSON.stringify(message)}`)
  return message
}
