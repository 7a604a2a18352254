/** Realtime channels joined with an unmodified supabase-js, as an app does. */
import { randomUUID } from 'node:crypto'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { saysHearing } from '../../functions/chat/hearing.ts'
import { isUuid } from '../../functions/_shared/uuid.ts'
import { check } from './chat-events.ts'
import { type Person, projectUrl, publishableKey } from './client.ts'
import { isTemporary } from './joins.ts'
import { waitUntil } from './wait.ts'

// What a test looks at is what it checks.
// deno-lint-ignore no-explicit-any
type Json = any
type ChannelEvent = { event: string; payload: Json }

const clients: SupabaseClient[] = []

/** A client with the person's token; without one it has the public key only. */
export async function clientOf(person?: Pick<Person, 'accessToken'>): Promise<SupabaseClient> {
  const client = createClient(projectUrl, publishableKey, {
    auth: { persistSession: false, autoRefreshToken: false, storageKey: randomUUID() },
    ...(person && { accessToken: () => Promise.resolve(person.accessToken) }),
  })
  clients.push(client)
  await client.realtime.setAuth()
  return client
}

export const closeClients = () =>
  Promise.all(clients.splice(0).map((client) => client.realtime.disconnect()))

export type Channel = Awaited<ReturnType<typeof joinChannel>>

/**
 * Joins a channel and waits until Realtime is connected to the database; `status` says how it went,
 * what arrives is in `received`.
 */
export async function joinChannel(client: SupabaseClient, topic: string, config: Json = {}) {
  const { changes, broadcast, ...rest } = config
  const channel = client.channel(topic, {
    config: { private: true, ...rest, broadcast: { ...broadcast, replication_ready: true } },
  })
  const received: ChannelEvent[] = []
  channel.on('broadcast', { event: '*' }, ({ event, payload }) => {
    // On the channel of an account only the database speaks; on that of a conversation, clients.
    const known = isUuid(topic) ? check('account', event, payload) : payload
    received.push({ event, payload: known })
  })
  if (config.presence) {
    channel.on('presence', { event: 'sync' }, () => {
      received.push({ event: 'presence', payload: channel.presenceState() })
    })
  }
  if (changes) {
    channel.on('postgres_changes' as never, { event: '*', schema: 'public', table: changes }, (
      payload: Json,
    ) => received.push({ event: 'postgres_changes', payload }))
  }
  const status = await new Promise<string>((resolve) => {
    channel.on('system', {}, (said) => {
      if (saysHearing(said)) resolve('SUBSCRIBED')
    }).subscribe((is, error) => {
      if (is !== 'SUBSCRIBED' && !isTemporary(error)) resolve(is)
    })
  })
  return {
    channel,
    heard: received,
    status,
    topic,
    /** The payloads of one event. */
    payloads: (event: string) =>
      received.filter((one) => one.event === event).map(({ payload }) => payload),
    /** Waits for so many of an event. */
    async waitFor(event: string, count = 1): Promise<Json[]> {
      const all = () => received.filter((one) => one.event === event)
      await waitUntil(`${count} ${event} on ${topic}`, () => all().length >= count)
      return all().map(({ payload }) => payload)
    },
    send: (event: string, payload: Json = {}) =>
      channel.send({ type: 'broadcast', event, payload }),
  }
}

/** The topic of an account. */
export const topicOf = async (person: Person) => (await person.get('/auth/me')).body.realtimeTopic

/** As the person, with a client of its own: a device. */
export const joinAs = async (person: Pick<Person, 'accessToken'>, topic: string, config?: Json) =>
  joinChannel(await clientOf(person), topic, config)
