import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'vitest'
import { root } from '../../local/config/settings.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { database, signUp } from '../support/client.ts'
import { startConversation } from '../support/conversations.ts'
import { defaultSettings, testLocally } from '../support/facade.ts'
import { within } from '../support/promised-times.ts'
import { untilLocked } from '../support/races.ts'
import { waitUntil } from '../support/wait.ts'

async function startProcess() {
  const main = join(root, 'functions', 'chat', 'main.ts')
  const { PATH, HOME } = process.env
  const own = spawn(process.execPath, [main], {
    env: { PATH, HOME, ...defaultSettings(), HOST: '127.0.0.1', PORT: '0' },
  })
  const ended = once(own, 'exit')
  let said = ''
  for (const stream of [own.stdout, own.stderr]) stream.on('data', (part) => (said += part))
  const listening = () => /"listening":"(127\.0\.0\.1:\d+)"/.exec(said)?.[1]
  await waitUntil('it listens', () => Boolean(listening()))
  return {
    url: `ws://${listening()}/chat`,
    said: () => said,
    end: () => own.kill('SIGTERM') && ended,
    kill: () => own.kill('SIGKILL'),
  }
}

testLocally(
  'the gateway serves as a plain process too, and closes with 1001 when it ends',
  async () => {
    const own = await startProcess()
    try {
      const socket = await ChatSocket.connect(await signUp(), own.url)
      const ended = within('a gateway has stopped', async () => await own.end())
      expect((await socket.waitForClose()).code).toBe(1001)
      expect(await ended).toEqual([0, null])
    } finally {
      own.kill()
    }
  },
)

testLocally('CRASH-05 a second signal ends the gateway at once', async () => {
  const own = await startProcess()
  const holder = await database().connect()
  try {
    const { a, conversationId } = await startConversation()
    const socket = await ChatSocket.connect(a, own.url)
    await socket.join(conversationId)
    await holder.query('begin')
    await holder.query('select from public.accounts where id = $1 for update', [a.id])
    // The gateway waits until this message is stored before it closes its sockets.
    void socket.sendMessage(conversationId, 'متاح؟')
    await untilLocked('send_message')
    void own.end()
    // Two signals sent at the same moment would arrive as one.
    await waitUntil('the first has come', () => own.said().includes('stopping'))
    expect(await own.end()).toEqual([1, null])
  } finally {
    await holder.query('rollback')
    holder.release()
    own.kill()
  }
})
