import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTimeOf } from '../processes/process-info.ts'
import { isThere } from '../config/system-errors.ts'
import { UserError } from '../config/user-error.ts'

type Owner = { pid: number; born: string }

const fileOf = (dataDir: string) => join(dataDir, 'supervisor.lock')

/** Locks the data folder for this process. If a process was killed, its lock is replaced. */
export function takeLock(dataDir: string): { release: () => void; leftover: boolean } {
  mkdirSync(dataDir, { recursive: true })
  const path = fileOf(dataDir)
  const mine = `${path}.${process.pid}`
  let leftover = false
  try {
    writeFileSync(mine, JSON.stringify({ pid: process.pid, born: startTimeOf(process.pid) }))
    for (;;) {
      try {
        // If two processes try at once, exactly one creates the link, and the lock is never half-written.
        linkSync(mine, path)
        return { release: () => rmSync(path, { force: true }), leftover }
      } catch (error) {
        if ((error as { code?: string }).code !== 'EEXIST') throw error
      }
      assertNotRunning(dataDir)
      leftover = true
      const old = `${mine}.old`
      renameSync(path, old)
      rmSync(old, { force: true })
    }
  } finally {
    rmSync(mine, { force: true })
  }
}

export function assertNotRunning(dataDir: string): void {
  const owner = ownerOf(dataDir)
  if (!owner || startTimeOf(owner.pid) !== owner.born || owner.born === '') return
  throw new UserError(
    `A stack is running on ${dataDir} already (process ${owner.pid}): stop that one with Ctrl-C, ` +
      'or choose another folder and port with LOCAL_DATA=<folder> PORT=<number>.',
  )
}

function ownerOf(dataDir: string): Owner | undefined {
  const path = fileOf(dataDir)
  if (!isThere(path)) return undefined
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
