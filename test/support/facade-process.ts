import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { denoBinary, denoPackages } from '../../local/config/packages.ts'
import { root } from '../../local/config/settings.ts'
import { defaultSettings } from './facade.ts'
import { waitUntil } from './wait.ts'

export async function startFacadeProcess(settings: Record<string, string> = {}) {
  const main = join(root, 'functions', 'api', 'main.ts')
  const { PATH, HOME } = process.env
  const listens = { HOST: '127.0.0.1', PORT: '0' }
  const child = spawn(
    denoBinary(),
    ['run', '--no-lock', ...denoPackages, '--allow-net', '--allow-env', main],
    { env: { PATH, HOME, ...defaultSettings(), FACADE_READ_DB_URL: '', ...listens, ...settings } },
  )
  const ended = once(child, 'exit')
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (said += part))
  const listening = () => /"listening":"127\.0\.0\.1:(\d+)"/.exec(said)?.[1]
  await waitUntil('it listens', () => Boolean(listening()))
  return {
    port: Number(listening()),
    said: () => said,
    end: () => child.kill('SIGTERM') && ended,
    kill: () => child.kill('SIGKILL'),
  }
}
