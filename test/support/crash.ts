import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { variable } from '../../local/config/environment.ts'
import { recordCalls } from './called-functions.ts'
import { projectUrl, secretKey } from './client.ts'
import { descendants } from './descendants.ts'
import { waitUntil } from './wait.ts'

const folder = () => variable('LOCAL_STACK')!

function supervisor(): number {
  return JSON.parse(readFileSync(join(folder(), 'supervisor.lock'), 'utf8')).pid
}

export const processIdOf = (what: string): number | undefined =>
  descendants(supervisor()).find(({ command }) => command.includes(what))?.pid

/** Kills a process with SIGKILL and waits until it is back; a worker starts again at the next request. */
export async function crash(what: string): Promise<void> {
  const old = processIdOf(what)
  if (!old) throw new Error(`${what} does not run`)
  process.kill(old, 'SIGKILL')
  await waitUntil(`${what} is back`, () => ![old, undefined].includes(processIdOf(what)))
}

/** Kills the database's main process and waits until the database and Auth respond again. */
export async function crashDatabase(): Promise<void> {
  const pid = Number(
    readFileSync(join(folder(), 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0],
  )
  await recordCalls(variable('DATABASE_URL')!)
  process.kill(pid, 'SIGKILL')
  await waitUntil('the database is back', async () => {
    const client = new pg.Client({ connectionString: variable('DATABASE_URL') })
    client.on('error', () => {})
    await client.connect()
    await client.query('select 1').finally(() => client.end())
    return true
  })
  // The real Auth notices a lost connection only by using it.
  await waitUntil('Auth is back', async () => {
    const calls = Array.from({ length: 10 }, async () => {
      const { ok, body } = await fetch(`${projectUrl}/auth/v1/admin/users?per_page=1`, {
        headers: { apikey: secretKey },
      })
      await body?.cancel()
      return ok
    })
    return (await Promise.all(calls)).every(Boolean)
  })
}
