// Ends the stack when the npm process that started it ends. If npm is killed, it does not end its children.
import { commandOf, parentOf, startTimeOf } from '../processes/process-info.ts'

export function onNpmExit(ended: () => void): void {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const watched = [parent]
  // Some systems run a shell between npm and its command.
  if (/^(\S*\/)?\w*sh -c /.test(commandOf(parent))) watched.push(parentOf(parent))
  const born = watched.map(startTimeOf)
  const timer = setInterval(() => {
    if (process.ppid === parent && watched.every((pid, i) => startTimeOf(pid) === born[i])) return
    clearInterval(timer)
    ended()
  }, 1000)
  timer.unref()
}
