/**
 * A process that a test stops stays stopped: `npm run test:slow` continues every process again and again,
 * but not those that are named in this folder.
 */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { variable } from '../../local/config/environment.ts'

/** Stops a process; gives what continues it. */
export function hold(pid: number): () => void {
  const folder = variable('HELD_PROCESSES')
  if (folder) writeFileSync(join(folder, String(pid)), '')
  process.kill(pid, 'SIGSTOP')
  return () => {
    if (folder) rmSync(join(folder, String(pid)), { force: true })
    process.kill(pid, 'SIGCONT')
  }
}

export const isHeld = (folder: string, pid: number) => existsSync(join(folder, String(pid)))
