// The client module when Realtime's connection to the database has ended while its sockets stay: nothing
// comes, nobody is told, and only a join wakes it.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@supabase/supabase-js'
import { afterEach, expect } from 'vitest'
import { startOtherRealtime } from '../../local/realtime/support/client.ts'
import { FollowedChannel, type Supabase } from '../../client/src/chat/channel.ts'
import { createChat, realtime as realtimeLink } from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import { type Person, publishableKey, signUp } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

type OtherRealtime = Awaited<ReturnType<typeof startOtherRealtime>>

/** A client of supabase-js with a Realtime of its own. */
function connected(person: Person, { url }: OtherRealtime) {
  const accessToken = () => Promise.resolve(person.accessToken)
  const sockets: WebSocket[] = []
  class Kept extends WebSocket {
    constructor(...given: ConstructorParameters<typeof WebSocket>) {
      super(...given)
      sockets.push(this)
    }
  }
  const supabase = createClient(url, publishableKey, {
    accessToken,
    auth: { storageKey: randomUUID() },
    realtime: { transport: Kept as never },
  })
  toEnd.push(() => supabase.realtime.disconnect())
  return { supabase, sockets, accessToken }
}

/** A chat client on it, with what it showed. */
function app(person: Person, realtime: OtherRealtime, visible: () => boolean) {
  const { supabase, sockets, accessToken } = connected(person, realtime)
  const chat = createChat(createApp({ url: realtime.url, accessToken }), {
    link: realtimeLink(supabase, { visible }),
  })
  toEnd.push(() => chat.close())
  const shown: string[] = []
  chat.on('new_message', ({ message }) => shown.push(message.body))
  const errors: string[] = []
  chat.on('error', ({ code }) => errors.push(code))
  return { chat, supabase, sockets, shown, errors }
}

testLocally('after one late message the others come live again', async () => {
  let joins = 0
  const realtime = await startOtherRealtime({ joinDelay: () => (joins++, 0) })
  toEnd.push(realtime.stop)
  const { a, b, conversationId } = await startConversation()
  let visible = true
  const { chat, supabase, shown, errors } = app(b, realtime, () => visible)
  await chat.join(conversationId)
  await waitUntil(
    'both channels are joined',
    () => supabase.getChannels().filter(({ state }) => state === 'joined').length === 2,
  )
  expect(joins).toBe(2)
  await postMessage(a, conversationId, '1')
  await waitUntil('it is shown', () => shown.length === 1)

  realtime.tenant.disconnect()
  await postMessage(a, conversationId, '2')
  await sleep(1000)
  expect([shown, realtime.tenant.streaming]).toEqual([['1'], false])
  await waitUntil('a look finds it', () => shown.length === 2)
  await waitUntil('the channel is joined anew', () => realtime.tenant.streaming)
  await waitUntil('there is one of each', () => supabase.getChannels().length === 2)

  // No look from here on: what is shown came live.
  visible = false
  await sleep(3000)
  for (const body of ['3', '4']) await postMessage(a, conversationId, body)
  await waitUntil('they are shown', () => shown.length === 4)
  expect([shown, errors, joins]).toEqual([['1', '2', '3', '4'], [], 3])
})

testLocally(
  'a server that has all connect again does not say that it hears the database',
  async () => {
    const realtime = await startOtherRealtime({ reconnectDelays: { min: 100, max: 100 } })
    toEnd.push(realtime.stop)
    const person = await signUp()
    const { supabase } = connected(person, realtime)
    await supabase.realtime.setAuth()
    const letGo = realtime.tenant.holdStream()
    realtime.tenant.breakStream()
    await waitUntil('the stream is lost', () => !realtime.tenant.streaming)
    const happened: string[] = []
    const followed = new FollowedChannel(supabase as unknown as Supabase, {
      fromDatabase: true,
      listen: () => {},
      joined: () => happened.push('joined'),
      interrupted: () => happened.push('interrupted'),
    })
    followed.follow((await person.get('/auth/me')).body.realtimeTopic)
    await waitUntil('Realtime has taken it', () => realtime.channels() === 1)
    await sleep(500)
    realtime.disconnectAll()
    await waitUntil('it is lost', () => happened.length > 0)
    await waitUntil('Realtime has it again', () => realtime.channels() === 1)
    expect(happened).toEqual(['interrupted'])
    letGo()
    await waitUntil('it is heard', () => happened.includes('joined'))
    followed.stop()
  },
  120_000,
)

testLocally('what was sent before a channel was joined is no reason to join it anew', async () => {
  let joins = 0
  let delay = 0
  const realtime = await startOtherRealtime({ joinDelay: () => (joins++, delay) })
  toEnd.push(realtime.stop)
  const { a, b, conversationId } = await startConversation()
  const { chat, supabase, sockets, shown } = app(b, realtime, () => true)
  await chat.join(conversationId)
  await postMessage(a, conversationId, '1')
  await waitUntil('it is shown', () => shown.length === 1)
  const before = joins
  // The connection breaks, and what is sent meanwhile is found by the look after the next join: the one
  // before it comes at once.
  delay = 3000
  const [channel] = supabase.getChannels()
  sockets.at(-1)!.close(4000)
  await waitUntil('it has noticed', () => channel!.state !== 'joined')
  await sleep(1500)
  await postMessage(a, conversationId, '2')
  await waitUntil('it is shown', () => shown.length === 2)
  await waitUntil('it is joined again', () => channel!.state === 'joined')
  await sleep(4000)
  expect(joins).toBe(before + 2)
  await postMessage(a, conversationId, '3')
  await waitUntil('it is shown', () => shown.length === 3)
})
