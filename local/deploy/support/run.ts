/** npm run deploy to a platform of the tests, as the program that it is. */
import { spawn } from 'node:child_process'
import { type Platform, ref, token } from './management-api.ts'

const baseEnvironment = (platform: Platform) => ({
  SUPABASE_ACCESS_TOKEN: token,
  SUPABASE_PROJECT_ID: ref,
  SUPABASE_API_URL: platform.url,
  SUPABASE_URL: platform.url,
  SITE_URL: 'https://dar.example',
})

export type Settings = Record<string, string | undefined>

/** Runs it as a machine does: nobody is there to answer a question. */
export function runDeploy(platform: Platform, settings: Settings = {}, ...flags: string[]) {
  platform.sent.length = 0
  const { PATH, HOME, TMPDIR } = process.env
  const child = spawn(process.execPath, ['local/deploy/main.ts', ...flags], {
    env: { PATH, HOME, TMPDIR, ...baseEnvironment(platform), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  return new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output }))
  )
}
