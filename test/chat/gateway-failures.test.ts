import { EventEmitter } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterEach, expect, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { Refusal } from '../../functions/_shared/errors/refusal.ts'
import type { Message } from '../../functions/chat/protocol.ts'
import { Conversation } from '../../functions/chat/server/conversation.ts'
import { refusalResponse } from '../../functions/chat/server/http-refusal.ts'
import { serveNodeSocket } from '../../functions/chat/server/node-socket.ts'

const { callFor } = vi.hoisted(() => ({ callFor: vi.fn() }))
vi.mock('../../functions/chat/server/database.ts', () => ({ callFor }))

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('a history that stays refused is asked for once a second, and sent when it is there', async () => {
  vi.useFakeTimers()
  let refused = true
  let requests = 0
  callFor.mockImplementation((_caller: unknown, name: string) => {
    if (name === 'join_conversation') return Promise.resolve({ lastSeq: 2 })
    requests++
    if (refused) return Promise.reject(new Refusal('identity_not_usable'))
    return Promise.resolve({ items: [{ seq: 1 }, { seq: 2 }], hasMore: false })
  })
  const sent: number[] = []
  const removed: string[] = []
  const conversation = new Conversation(
    {
      credentials: { caller: { token: '' } as never },
      account: { listen: () => ({ topic: '', follow() {}, typing() {} }), leave() {} } as never,
      send: (_event, data) => void sent.push((data as { message: Message }).message.seq),
      drained: () => Promise.resolve(),
      removeFrom: (id) => void removed.push(id),
    },
    { conversationId: 'a', lastSeq: 0, identityId: '', peerId: '', liveTopic: '' },
    { after: 0, sharePresence: true },
  )

  conversation.messageStored({ seq: 2 } as Message)
  await vi.advanceTimersByTimeAsync(10_500)
  expect(requests).toBeGreaterThan(8)
  expect(requests).toBeLessThan(12)
  refused = false
  await vi.advanceTimersByTimeAsync(1000)
  expect(sent).toEqual([1, 2])
  expect(removed).toEqual([])
  conversation.stop()
})

test('a frame whose handling fails holds up none after it', async () => {
  const failures = vi.spyOn(console, 'error').mockImplementation(() => {})
  const socket = Object.assign(new EventEmitter(), { readyState: 1, pause() {}, resume: vi.fn() })
  const handled: string[] = []
  serveNodeSocket(socket as unknown as WebSocket, new PassThrough(), () => ({
    message: (text) => {
      handled.push(text)
      return text === 'bad' ? Promise.reject(new Error('of this frame')) : Promise.resolve()
    },
    closed: () => {},
  }))
  for (const text of ['good', 'bad', 'after']) socket.emit('message', Buffer.from(text), false)
  await vi.waitFor(() => expect(socket.resume).toHaveBeenCalled())
  socket.emit('message', Buffer.from('later'), false)
  await vi.waitFor(() => expect(handled).toEqual(['good', 'bad', 'after', 'later']))
  expect(failures).toHaveBeenCalledOnce()
  socket.emit('close')
})

test('a socket that is refused for now is told in header and body when to try again', () => {
  const { headers, body } = refusalResponse({ refuse: 503, code: 'service_unavailable' })
  const { error } = JSON.parse(body)
  expect(error.retryAfter).toBeGreaterThan(0)
  expect(headers['Retry-After']).toBe(String(error.retryAfter))
})
