// A stack that npm started ends with npm, which does not end its children when it is killed.
import { commandOf, parentOf, startTimeOf } from '../processes/process-info.ts'

/** Calls back once npm is gone, in whatever way. Does nothing if npm did not start this process. */
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
