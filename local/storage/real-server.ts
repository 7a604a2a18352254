import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { endWithSupervisor, readyLine } from '../processes/lifecycle.ts'
import { clearSchema } from '../platform/clear-schema.ts'
import { readStack } from '../config/stack.ts'
import { realStorageSettings } from './real-proxy.ts'

const stack = readStack(process.env)
const folder = stack.realStorage!
const server = join(folder, 'dist', 'start', 'server.js')
if (!existsSync(server)) throw new Error(`REAL_STORAGE: there is no ${server}`)
await clearSchema(stack, {
  schema: 'storage',
  owner: 'supabase_storage_admin',
  migrations: 'migrations',
})
Object.assign(process.env, realStorageSettings(stack))
endWithSupervisor(() => Promise.resolve())
// The server looks for its migrations in the working directory.
process.chdir(folder)
await import(pathToFileURL(server).href)

const status = `http://127.0.0.1:${stack.ports.storage}/status`
while (!await fetch(status).then(({ ok }) => ok, () => false)) await sleep(100)
console.error(readyLine)
