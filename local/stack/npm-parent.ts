// A stack that npm started ends with npm: npm that is killed takes nothing with it by itself.
import { commandOf, parentOf, startTimeOf } from './process-info.ts'

/** Calls back once npm is gone, however it went. Nothing is watched where npm started nothing. */
export function onNpmExit(ended: () => void): void {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const watched = [parent]
  // Some systems leave the shell between npm and what it runs.
  if (/^(\S*\/)?\w*sh -c /.test(commandOf(parent))) watched.push(parentOf(parent))
  const born = watched.map(startTimeOf)
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every((pid, i) => startTimeOf(pid) === born[i])) return
    clearInterval(timer)
    ended()
  }, 1000)
  timer.unref()
}
