// Runs the real Auth server in place of the stand-in, as a child of this process: see
// real-proxy.ts.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { realAuthSettings } from './real-proxy.ts'
import { endWithSupervisor, readyLine } from '../processes/lifecycle.ts'
import { clearSchema } from '../platform/clear-schema.ts'
import { startTimeOf } from '../processes/process-info.ts'
import { readStack } from '../config/stack.ts'
import { UserError } from '../config/user-error.ts'

const stack = readStack(process.env)
const binary = stack.realAuth!
const note = join(stack.dataDir, 'real-auth.json')
const { auth: port } = stack.ports
const answers = () => fetch(`http://127.0.0.1:${port}/health`).then(({ ok }) => ok, () => false)

/** Whether anything listens there, whatever it is: Auth would share the port with it. */
async function isTaken() {
  const socket = connect(port, '127.0.0.1')
  const taken = await once(socket, 'connect').then(() => true, () => false)
  socket.destroy()
  return taken
}

/** Ends what a killed process of ours left behind; it shares its port, so two would answer in turn. */
async function endLeftover() {
  let left: { pid: number; born: string; dataDir: string }
  try {
    left = JSON.parse(readFileSync(note, 'utf8'))
  } catch {
    return
  }
  const isIt = () => left.born !== '' && startTimeOf(left.pid) === left.born
  if (left.dataDir !== stack.dataDir || !isIt()) return
  process.kill(left.pid, 'SIGKILL')
  while (isIt()) await sleep(50)
}

function start(): ChildProcess {
  const child = spawn(binary, {
    cwd: dirname(binary),
    // Nothing else of our environment: it would read settings there too.
    env: { PATH: process.env.PATH, ...stack.realAuthOutside, ...realAuthSettings(stack) },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  child.once('error', (error) => {
    console.error(`REAL_AUTH: ${error.message}`)
    process.exit(1)
  })
  child.once('exit', (code) => child === server && process.exit(code ?? 1))
  const born = child.pid ? startTimeOf(child.pid) : ''
  writeFileSync(note, JSON.stringify({ pid: child.pid, born, dataDir: stack.dataDir }))
  return child
}

async function stop() {
  const ended = server
  clearInterval(clock)
  server = undefined
  if (!ended || ended.exitCode !== null || ended.signalCode !== null) return
  ended.kill('SIGTERM')
  await once(ended, 'exit')
  rmSync(note, { force: true })
}

await endLeftover()
if (await isTaken()) {
  throw new UserError(`REAL_AUTH: something else answers on port ${port}; end it, or change PORT.`)
}
await clearSchema(stack, {
  schema: 'auth',
  owner: 'supabase_auth_admin',
  migrations: 'schema_migrations',
})
const keysNow = () => realAuthSettings(stack).GOTRUE_JWT_KEYS
let keys = keysNow()
let server: ChildProcess | undefined = start()
// It reads its keys once.
const clock = setInterval(() => {
  const before = server
  if (!before || keysNow() === keys) return
  keys = keysNow()
  server = undefined
  before.once('exit', () => (server = start()))
  before.kill('SIGTERM')
}, 250)
endWithSupervisor(stop)

while (!await answers()) await sleep(100)
console.error(readyLine)
