// Realtime loses its connection to the database while its sockets stay open. No events arrive until a join
// restores the connection.
import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { afterEach, expect } from 'vitest'
import { startOtherRealtime } from '../../local/realtime/support/client.ts'
import { FollowedChannel, type Supabase } from '../../client/src/chat/channel.ts'
import { createChat, realtime as realtimeLink } from '../../client/src/chat/index.ts'
import { checkTimes } from '../../client/src/chat/list-check.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import { type Person, publishableKey, signUp } from '../support/client.ts'
import { postMessage, startConversation } from '../support/conversations.ts'
import { testLocally } from '../support/facade.ts'
import { never, withCheckTimes } from '../support/check-times.ts'
import { pause, waitUntil } from '../support/wait.ts'

const toEnd: (() => unknown)[] = []
withCheckTimes({ whole: never })
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

type OtherRealtime = Awaited<ReturnType<typeof startOtherRealtime>>

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

function app(person: Person, realtime: OtherRealtime) {
  const { supabase, sockets, accessToken } = connected(person, realtime)
  let looks = 0
  const client = createApp({
    url: realtime.url,
    accessToken,
    fetch: async (input, init) => {
      const answer = await fetch(input, init)
      if (String(input).includes('/conversations?')) looks++
      return answer
    },
  })
  const chat = createChat(client, { link: realtimeLink(supabase) })
  toEnd.push(() => chat.close())
  const shown: string[] = []
  chat.on('new_message', ({ message }) => shown.push(message.body))
  const errors: string[] = []
  chat.on('error', ({ code }) => errors.push(code))
  return { chat, supabase, sockets, shown, errors, looks: () => looks }
}

testLocally('after one late message the others come live again', async () => {
  let joins = 0
  const realtime = await startOtherRealtime({ joinDelay: () => (joins++, 0) })
  toEnd.push(realtime.stop)
  const { a, b, conversationId } = await startConversation()
  const { chat, supabase, shown, errors, looks } = app(b, realtime)
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
  expect([shown, realtime.tenant.streaming]).toEqual([['1'], false])
  checkTimes.whole = 1000
  await waitUntil('a look finds it', () => shown.length === 2)
  await waitUntil('the channel is joined anew', () => realtime.tenant.streaming)
  await waitUntil('there is one of each', () => supabase.getChannels().length === 2)

  // From here on the chat fetches messages only after a join, so any other message that arrives came live.
  checkTimes.whole = never
  const sent = ['1', '2']
  await waitUntil('one comes live', async () => {
    const before = looks()
    const body = String(sent.length + 1)
    sent.push(body)
    await postMessage(a, conversationId, body)
    await waitUntil('it is shown', () => shown.includes(body))
    return looks() === before
  })
  expect([shown, errors, joins]).toEqual([sent, [], 3])
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
    const isJoined = () => supabase.getChannels()[0]?.state === 'joined'
    await waitUntil('Realtime has taken it', isJoined)
    realtime.disconnectAll()
    await waitUntil('it is lost', () => happened.length > 0)
    await waitUntil('Realtime has it again', isJoined)
    expect(happened).toEqual(['interrupted'])
    letGo()
    await waitUntil('it is heard', () => happened.includes('joined'))
    followed.stop()
  },
)

testLocally('what was sent before a channel was joined is no reason to join it anew', async () => {
  let joins = 0
  let delay: number | Promise<number> = 0
  let goOn!: (delay: number) => void
  const realtime = await startOtherRealtime({ joinDelay: () => (joins++, delay) })
  toEnd.push(realtime.stop)
  const { a, b, conversationId } = await startConversation()
  const { chat, supabase, sockets, shown, looks } = app(b, realtime)
  await chat.join(conversationId)
  await postMessage(a, conversationId, '1')
  await waitUntil('it is shown', () => shown.length === 1)
  const before = joins
  // After the connection breaks, the check that follows the next join finds the messages sent in between. A
  // check that was already due runs at once.
  Object.assign(checkTimes, { broken: never, eventLate: 100 })
  delay = new Promise((resolve) => (goOn = resolve))
  const [channel] = supabase.getChannels()
  const looked = looks()
  sockets.at(-1)!.close(4000)
  await waitUntil(
    'it has noticed, and looked',
    () => channel!.state !== 'joined' && looks() > looked,
  )
  await postMessage(a, conversationId, '2')
  await waitUntil('it joins', () => joins > before)
  goOn(0)
  await waitUntil('it is shown', () => shown.length === 2)
  await waitUntil('it is joined again', () => channel!.state === 'joined' && joins === before + 2)
  await pause(10 * checkTimes.eventLate, 'time is the subject')
  expect(joins).toBe(before + 2)
  await postMessage(a, conversationId, '3')
  await waitUntil('it is shown', () => shown.length === 3)
})
