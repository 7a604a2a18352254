import { dirname } from 'node:path'
import { realAuthSettings } from './real-proxy.ts'
import { clearSchema } from '../platform/clear-schema.ts'
import { readStack } from '../config/stack.ts'
import { runRealServer } from '../processes/real-server.ts'

const stack = readStack(process.env)
const command = stack.realAuth!
const { auth: port } = stack.ports

await runRealServer(stack, {
  setting: 'REAL_AUTH',
  port,
  command,
  cwd: dirname(command),
  settings: () => ({ ...stack.realAuthOutside, ...realAuthSettings(stack) }),
  prepare: () =>
    clearSchema(stack, {
      schema: 'auth',
      owner: 'supabase_auth_admin',
      migrations: 'schema_migrations',
    }),
  answers: async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok,
})
