// Checks the chat frames and events of tests against GET /asyncapi.json.
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { variable } from '../../local/config/environment.ts'
import { closed } from './answers.ts'
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

const ajv = new Ajv2020({ strict: false, allErrors: true })
formats.default(ajv)
const schemas = Object.entries(components.schemas).map(([name, one]) => [name, closed(one)])
ajv.addSchema({ $id: 'events', components: { schemas: Object.fromEntries(schemas) } })

export function faultOf(channel: ChannelName, name: string, value: unknown) {
  const payload = channels[channel].messages[name]?.payload
  if (!payload) return `${name} is not described`
  const validate = ajv.getSchema(`events${payload.$ref}`)!
  return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: name })
}

/** Checks a message and returns it, without the fields that a client of another version would ignore. */
export function check<T>(channel: ChannelName, name: string, value: T): T {
  const payload = channels[channel].messages[name]?.payload
  const message = payload ? seen(value, payload, components.schemas) : value
  const fault = faultOf(channel, name, message)
  if (fault) throw new Error(`${fault}\n${JSON.stringify(message)}`)
  return message
}
