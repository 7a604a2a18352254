// Stops a process (SIGSTOP) for a test. `npm run test:slow` continues every process again and again, except
// those with a file in the folder HELD_PROCESSES.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { variable } from '../../local/config/environment.ts'

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
