import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'vitest'
import { root } from '../../local/config/settings.ts'
import { ChatSocket } from '../support/chat-socket.ts'
import { signUp } from '../support/client.ts'
import { defaultSettings, testLocally } from '../support/facade.ts'
import { waitUntil } from '../support/wait.ts'

testLocally(
  'the gateway serves as a plain process too, and closes with 1001 when it ends',
  async () => {
    const main = join(root, 'functions', 'chat', 'main.ts')
    const { PATH, HOME } = process.env
    const own = spawn(process.execPath, [main], {
      env: { PATH, HOME, ...defaultSettings(), HOST: '127.0.0.1', PORT: '0' },
    })
    let said = ''
    for (const stream of [own.stdout, own.stderr]) stream.on('data', (part) => (said += part))
    const ended = once(own, 'exit')
    try {
      const listening = () => /"listening":"(127\.0\.0\.1:\d+)"/.exec(said)?.[1]
      await waitUntil('it listens', () => Boolean(listening()))
      const socket = await ChatSocket.connect(await signUp(), `ws://${listening()}/chat`)
      own.kill('SIGTERM')
      expect((await socket.waitForClose()).code).toBe(1001)
      expect(await ended).toEqual([0, null])
    } finally {
      own.kill('SIGKILL')
    }
  },
)
