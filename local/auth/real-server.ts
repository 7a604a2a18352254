// Runs the real Auth server in place of the stand-in, as a child of this process: see
// real-proxy.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { realAuthSettings } from './real-proxy.ts'
import { endWithSupervisor, readyLine } from '../stack/lifecycle.ts'
import { clearSchema } from '../platform/clear-schema.ts'
import { readStack } from '../stack/stack.ts'

const stack = readStack(process.env)
const binary = stack.realAuth!
await clearSchema(stack, {
  schema: 'auth',
  owner: 'supabase_auth_admin',
  migrations: 'schema_migrations',
})
// Nothing else of our environment: it would read settings there too.
const server = spawn(binary, {
  cwd: dirname(binary),
  env: { PATH: process.env.PATH, ...stack.realAuthOutside, ...realAuthSettings(stack) },
  stdio: ['ignore', 'inherit', 'inherit'],
})
const ended = once(server, 'exit')
void ended.then(([code]) => process.exit(code ?? 1), (error) => {
  console.error(`REAL_AUTH: ${error.message}`)
  process.exit(1)
})
endWithSupervisor(() => {
  server.kill('SIGTERM')
  return ended
})

const health = `http://127.0.0.1:${stack.ports.auth}/health`
while (!await fetch(health).then(({ ok }) => ok, () => false)) await sleep(100)
console.error(readyLine)
