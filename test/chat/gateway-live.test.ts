import { randomUUID } from 'node:crypto'
import { createClient } from '@supabase/supabase-js'
import { afterEach, expect, test } from 'vitest'
import { createChat, gateway, type Link, realtime } from '../../client/src/chat/index.ts'
import { createClient as createApp } from '../../client/src/index.ts'
import { type ChatSocket, upTo } from '../support/chat-socket.ts'
import { type Person, projectUrl, publishableKey, signIn, signUp } from '../support/client.ts'
import { startConversation } from '../support/conversations.ts'
import { waitUntil } from '../support/wait.ts'
import { socketOf } from './sockets.ts'

const toEnd: (() => unknown)[] = []
afterEach(async () => {
  for (const end of toEnd.splice(0).reverse()) await end()
})

const isHere = (socket: ChatSocket) => socket.events('presence').at(-1)?.here
const type = (socket: ChatSocket, conversationId: string) =>
  socket.ask('send_typing', { conversationId })
async function joined(conversationId: string, ...people: Pick<Person, 'accessToken'>[]) {
  const sockets = await Promise.all(people.map((person) => socketOf(person)))
  for (const socket of sockets) await socket.join(conversationId)
  return sockets
}

test('CHAT-20 both sides see one another and that the other is typing', async () => {
  const { a, b, conversationId } = await startConversation()
  const [left, right] = await joined(conversationId, a, b)
  await waitUntil('they see one another', () => isHere(left!) && isHere(right!))
  const other = { conversationId, identityId: b.identityId }
  expect(left!.events('presence').at(-1)).toEqual({ ...other, here: true })
  const answers = await Promise.all(upTo(5).map(() => type(right!, conversationId)))
  expect(answers.map(({ data }) => data)).toEqual(Array(5).fill({ conversationId }))
  await right!.leave(conversationId)
  await waitUntil('it is gone', () => isHere(left!) === false)
  // Only one of the five typing events was passed on, because of the rate limit.
  expect(left!.events('typing')).toEqual([other])
  expect(right!.events('typing')).toEqual([])
  await right!.join(conversationId)
  await waitUntil('it is back', () => isHere(left!))
  right!.close()
  await waitUntil('it is gone with its socket', () => isHere(left!) === false)
})

test('CHAT-20 another device of one’s own is not the other side; who wants is not seen', async () => {
  const { a, b, conversationId } = await startConversation()
  const [phone, tablet] = await joined(conversationId, a, a)
  const other = await socketOf(b)
  await other.join(conversationId, { sharePresence: false })
  await waitUntil('it sees both as one', () => isHere(other))
  await type(phone!, conversationId)
  await waitUntil('it sees that one types', () => other.events('typing').length === 1)
  await phone!.leave(conversationId)
  phone!.close()
  await type(other, conversationId)
  await waitUntil('it sees the other side', () => tablet!.events('typing').length > 0)
  expect([isHere(phone!), isHere(tablet!), isHere(other)]).toEqual([false, false, true])
  expect(tablet!.events('typing')).toEqual([{ conversationId, identityId: b.identityId }])
  await other.join(conversationId, { afterSeq: 0 })
  await waitUntil('it lets itself be seen', () => isHere(tablet!))
  tablet!.close()
  await waitUntil('both are gone', () => isHere(other) === false)
})

test('what the other side sends on the channel itself is typing or nothing', async () => {
  const { a, b, conversationId } = await startConversation()
  const [left] = await joined(conversationId, a)
  const forger = createClient(projectUrl, publishableKey, {
    accessToken: () => Promise.resolve(b.accessToken),
  })
  toEnd.push(() => forger.removeAllChannels())
  const { liveTopic } = (await b.get(`/conversations/${conversationId}`)).body
  const { identityId } = b
  const config = { private: true, presence: { key: identityId } }
  const live = forger.channel(liveTopic, { config })
  await new Promise((joined) => live.subscribe(joined))
  await live.track({})
  await waitUntil('the gateway hears the channel', () => isHere(left!))
  for (const by of [{ toString: 1 }, [identityId], identityId]) {
    await live.send({ type: 'broadcast', event: 'typing', payload: { identityId: by } })
  }
  await waitUntil('what is sent last is heard', () => left!.events('typing').length > 0)
  expect(left!.events('typing')).toEqual([{ conversationId, identityId }])
})

test('CHAT-20 typing is for who has joined, and strangers neither see nor say it', async () => {
  const { a, b, conversationId } = await startConversation()
  const [left] = await joined(conversationId, a)
  for (const person of [b, await signUp()]) {
    const socket = await socketOf(person)
    expect((await type(socket, conversationId)).data.code).toBe('not_participant')
  }
  expect((await left!.ask('send_typing', {})).data.code).toBe('validation_failed')
  const stranger = await socketOf(await signUp())
  expect((await stranger.join(conversationId)).event).toBe('error')
  const right = await socketOf(b)
  await right.join(conversationId, { sharePresence: false })
  await waitUntil('the other side sees it', async () => {
    await type(left!, conversationId)
    return right.events('typing').length > 0
  })
  await stranger.ask('heartbeat', {})
  expect(stranger.events('typing')).toEqual([])
  expect(isHere(left!)).toBe(false)
})

test('CHAT-20 who is blocked or signed out is gone, the others go on under another name', async () => {
  const { a, b, conversationId } = await startConversation()
  const phone = await signIn(a.identifier, a.password)
  const [ending, left, right] = await joined(conversationId, phone, a, b)
  await waitUntil('they see one another', () => isHere(left!) && isHere(right!))
  await phone.post('/auth/logout', {})
  expect((await ending!.waitForClose()).code).toBe(4401)
  await waitUntil('they still do', async () => {
    await type(left!, conversationId)
    return right!.events('typing').length > 0 && isHere(left!) && isHere(right!)
  })
  await a.post(`/blocks/${b.identityId}`)
  await waitUntil('it is gone', () => isHere(left!) === false)
  await waitUntil(
    'it is out',
    async () => (await type(right!, conversationId)).data.code === 'not_participant',
  )
})

test('CHAT-20 clients of the gateway and of Realtime see one another', async () => {
  const { a, b, conversationId } = await startConversation()
  const supabase = createClient(projectUrl, publishableKey, {
    accessToken: () => Promise.resolve(b.accessToken),
    auth: { storageKey: randomUUID() },
  })
  toEnd.push(() => supabase.realtime.disconnect())
  const device = (person: Person, link: Link) => {
    const accessToken = () => person.accessToken
    const chat = createChat(createApp({ url: projectUrl, accessToken }), { link })
    toEnd.push(() => chat.close())
    const shown = { chat, here: undefined as boolean | undefined, typing: 0 }
    chat.on('presence', ({ here }) => (shown.here = here))
    chat.on('typing', () => shown.typing++)
    return shown
  }
  const [one, other] = [device(a, gateway()), device(b, realtime(supabase))]
  for (const { chat } of [one, other]) await chat.join(conversationId)
  await waitUntil('they see one another', () => one.here === true && other.here === true)
  for (let n = 0; n < 5; n++) {
    one.chat.typing(conversationId)
    other.chat.typing(conversationId)
  }
  await waitUntil('it is seen', () => one.typing > 0 && other.typing > 0)
  expect([one.typing, other.typing]).toEqual([1, 1])
  other.chat.close()
  await waitUntil('it is gone', () => one.here === false)
})
