import { mkdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'

const largest = 20 * 1024 * 1024

/** Returns the path of a process's log file. If the file is large, it is first renamed to *.old. */
export function logFile(dataDir: string, name: string): string {
  const folder = join(dataDir, 'logs')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${name}.log`)
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > largest) renameSync(path, `${path}.old`)
  return path
}
