/** People who hear Realtime channels with supabase-js as it is, as an app does. */
import { randomUUID } from 'node:crypto'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { type Person, projectUrl, publishableKey } from './client.ts'
import { until } from './until.ts'

// What a test looks at is what it checks.
// deno-lint-ignore no-explicit-any
type Json = any
export type Heard = { event: string; payload: Json }

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

export type Channel = Awaited<ReturnType<typeof hear>>

/**
 * Joins a channel and waits until Realtime hears the database; `status` says how it went, what comes
 * is in `heard`.
 */
export async function hear(client: SupabaseClient, topic: string, config: Json = {}) {
  const { changes, broadcast, ...rest } = config
  const channel = client.channel(topic, {
    config: { private: true, ...rest, broadcast: { ...broadcast, replication_ready: true } },
  })
  const heard: Heard[] = []
  channel.on('broadcast', { event: '*' }, ({ event, payload }) => heard.push({ event, payload }))
  if (config.presence) {
    channel.on('presence', { event: 'sync' }, () => {
      heard.push({ event: 'presence', payload: channel.presenceState() })
    })
  }
  if (changes) {
    channel.on('postgres_changes' as never, { event: '*', schema: 'public', table: changes }, (
      payload: Json,
    ) => heard.push({ event: 'postgres_changes', payload }))
  }
  const status = await new Promise<string>((resolve) => {
    channel.on('system', {}, ({ extension, status }: Json) => {
      if (extension === 'system' && status === 'ok') resolve('SUBSCRIBED')
    }).subscribe((is) => is !== 'SUBSCRIBED' && resolve(is))
  })
  return {
    channel,
    heard,
    status,
    topic,
    /** What came of one kind. */
    of: (event: string) => heard.filter((one) => one.event === event).map(({ payload }) => payload),
    /** Waits for so many of a kind. */
    async got(event: string, count = 1): Promise<Json[]> {
      const all = () => heard.filter((one) => one.event === event)
      await until(`${count} ${event} on ${topic}`, () => all().length >= count)
      return all().map(({ payload }) => payload)
    },
    send: (event: string, payload: Json = {}) =>
      channel.send({ type: 'broadcast', event, payload }),
  }
}

/** As the person, with a client of its own: a device. */
export const device = async (person: Pick<Person, 'accessToken'>, topic: string, config?: Json) =>
  hear(await clientOf(person), topic, config)
