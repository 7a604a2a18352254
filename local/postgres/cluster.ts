import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { binaries, runner } from './binaries.ts'
import { commandOf, sendSignal } from '../processes/process-info.ts'
import { stuck } from '../processes/progress.ts'
import { adviceOn, isThere } from '../config/system-errors.ts'
import { UserError } from '../config/user-error.ts'

/** The superuser has the same name as on hosted projects. */
export const superuser = 'supabase_admin'

export function checkCluster(cluster: string) {
  const version = join(cluster, 'PG_VERSION')
  const found = isThere(version) ? readFileSync(version, 'utf8').trim() : 'nothing'
  if (found === '17') return
  throw new UserError(
    `The data folder ${cluster} is damaged or of another version (expected Postgres 17, found ` +
      `${found}). Restore it from a copy, or run "npm run reset" to start over.`,
  )
}

export async function createCluster(cluster: string, password: string, throwAway = false) {
  const { initdb } = await binaries()
  // The folder gets its final name only when it is complete, so an interruption leaves nothing to repair.
  const fresh = `${cluster}.new`
  rmSync(fresh, { recursive: true, force: true })
  const passwordFile = `${cluster}.password`
  const { owner, command } = runner()
  try {
    mkdirSync(fresh, { mode: 0o700 })
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (owner) {
      chownSync(fresh, owner.uid, owner.gid)
      chownSync(passwordFile, owner.uid, owner.gid)
    }
    const [file, args, spawnOptions] = command(initdb, [
      `--pgdata=${fresh}`,
      `--username=${superuser}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // This is the locale of hosted projects, so that names are sorted in the same order as there.
      '--locale-provider=icu',
      '--icu-locale=en-US',
      `--locale=${process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8'}`,
      '--lc-messages=C',
      ...(throwAway ? ['--no-sync'] : []),
    ])
    execFileSync(file, args, { ...spawnOptions, stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    const reason = String((error as { stderr?: unknown }).stderr || error).trim()
    const advice = adviceOn(reason) ?? ''
    throw new UserError(`Postgres could not make its folder ${cluster}: ${reason}\n${advice}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(fresh, cluster)
}

/** Stops a server left over from an earlier run, or its replica (`name`). Its supervisor must have ended. */
export async function stopLeftoverServer(
  dataDir: string,
  log: (line: string) => void,
  name = 'postgres',
): Promise<void> {
  const cluster = join(resolve(dataDir), name)
  const lock = join(cluster, 'postmaster.pid')
  if (!isThere(lock)) return
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0])
  const command = commandOf(pid)
  // Postgres itself replaces the lock of a dead server, unless another process now has its id.
  if (command === '') return
  if (!command.includes(cluster)) return rmSync(lock)
  log('stopping a database server left over from an earlier run')
  sendSignal(pid, 'SIGINT')
  const waiting = new AbortController()
  const isStillIt = () => commandOf(pid) === command
  void stuck(pid, { idle: 10_000, limit: 120_000, signal: waiting.signal })
    .then(() => isStillIt() && sendSignal(pid, 'SIGKILL'))
  while (isStillIt()) await sleep(50)
  waiting.abort()
}
