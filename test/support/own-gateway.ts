import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Times } from '../../functions/chat/server/times.ts'
import { variable } from '../../local/config/environment.ts'
import { chatProgram } from '../../local/functions/programs.ts'
import { readStack } from '../../local/config/stack.ts'
import { projectUrl } from './client.ts'
import { freePorts } from '../../local/config/ports.ts'
import { defaultSettings } from './facade.ts'
import { waitUntil } from './wait.ts'

export type OwnGateway = {
  url: string
  port: number
  pid: number
  output: () => string
  terminate: () => Promise<void>
  kill: () => Promise<void>
}

export async function startGateway(
  settings: Record<string, string> = {},
  { port: given, times }: { port?: number; times?: Partial<Times> } = {},
): Promise<OwnGateway> {
  const port = given ?? await freePorts(1)
  const stack = readStack({
    ...process.env,
    PORT: new URL(projectUrl).port,
    LOCAL_DATA: variable('LOCAL_STACK'),
    RATES: 'off',
    NODE_ENV: 'test',
  })
  const program = chatProgram(stack, {
    name: 'own gateway',
    port,
    times,
    settings: { ...defaultSettings(), GATEWAY_MESSAGES: '0', ...settings },
  })
  const child = spawn(program.command, program.args, { env: program.env, stdio: 'pipe' })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  await waitUntil('it runs', () => output.includes('@ready') || child.exitCode !== null)
  if (child.exitCode !== null) throw new Error(output)
  const end = (signal: NodeJS.Signals) => async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  return {
    url: `ws://127.0.0.1:${port}/chat`,
    port,
    pid: child.pid!,
    output: () => output,
    terminate: end('SIGTERM'),
    kill: end('SIGKILL'),
  }
}
