import { randomUUID } from 'node:crypto'
import { createClient, type SupabaseClient } from '@supabase/supabase-js'
import { saysHearing } from '../../functions/chat/hearing.ts'
import { isUuid } from '../../functions/_shared/input/uuid.ts'
import { check } from './chat-events.ts'
import { database, type Person, projectUrl, publishableKey } from './client.ts'
import { isTemporary } from './joins.ts'
import { waitUntil } from './wait.ts'

// deno-lint-ignore no-explicit-any
type Json = any
type ChannelEvent = { event: string; payload: Json }

const clients: SupabaseClient[] = []

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

/** Joins a channel and waits until Realtime receives the database's events. */
export async function joinChannel(client: SupabaseClient, topic: string, config: Json = {}) {
  const { changes, broadcast, ...rest } = config
  const channel = client.channel(topic, {
    config: { private: true, ...rest, broadcast: { ...broadcast, replication_ready: true } },
  })
  const received: ChannelEvent[] = []
  let marked = false
  channel.on('broadcast', { event: '*' }, ({ event, payload }) => {
    if (event === 'mark') return void (marked = true)
    // On an account's channel only the database sends; on a conversation's channel clients send.
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
  if (status === 'SUBSCRIBED' && isUuid(topic)) {
    // Realtime may deliver earlier events late, but always before this one.
    await database().query(`select private.broadcast($1, 'mark', '{}')`, [topic])
    await waitUntil('a mark arrives', () => marked)
    received.length = 0
  }
  return {
    channel,
    heard: received,
    status,
    topic,
    payloads: (event: string) =>
      received.filter((one) => one.event === event).map(({ payload }) => payload),
    async waitFor(event: string, count = 1): Promise<Json[]> {
      const all = () => received.filter((one) => one.event === event)
      await waitUntil(`${count} ${event} on ${topic}`, () => all().length >= count)
      return all().map(({ payload }) => payload)
    },
    send: (event: string, payload: Json = {}) =>
      channel.send({ type: 'broadcast', event, payload }),
  }
}

export const topicOf = async (person: Person) => (await person.get('/auth/me')).body.realtimeTopic

export const joinAs = async (person: Pick<Person, 'accessToken'>, topic: string, config?: Json) =>
  joinChannel(await clientOf(person), topic, config)
