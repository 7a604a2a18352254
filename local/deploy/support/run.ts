import { spawn } from 'node:child_process'
import { token } from './management-api.ts'
import { type Platform, ref } from './platform.ts'

const baseEnvironment = (platform: Platform) => ({
  SUPABASE_ACCESS_TOKEN: token,
  SUPABASE_PROJECT_ID: ref,
  SUPABASE_API_URL: platform.url,
  SUPABASE_URL: platform.url,
  SITE_URL: 'https://dar.example',
  ALLOW_NO_SMS: 'true',
})

export type Settings = Record<string, string | undefined>

export function runDeploy(platform: Platform, settings: Settings = {}, ...flags: string[]) {
  platform.sent.length = 0
  const { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE } = process.env
  const forNode = flags.filter((flag) => flag.startsWith('--env-file'))
  const own = flags.filter((flag) => !forNode.includes(flag))
  const child = spawn(process.execPath, [...forNode, 'local/deploy/main.ts', ...own], {
    env: { PATH, HOME, TMPDIR, NODE_COMPILE_CACHE, ...baseEnvironment(platform), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  return new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output }))
  )
}
