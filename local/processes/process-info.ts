import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const ps = (pid: number, what: string) =>
  execFileSync('ps', ['-o', `${what}=`, '-p', String(pid)], { stdio: 'pipe' }).toString().trim()

/** Returns a process's start time, to tell it from later processes with its id; '' if it has ended. */
export function startTimeOf(pid: number): string {
  try {
    if (process.platform === 'win32') return process.kill(pid, 0) ? 'there' : ''
    if (process.platform !== 'linux') return ps(pid, 'lstart')
    // The start time is the twentieth field after the name in parentheses, which may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
    return fields[0] === 'Z' ? '' : fields[19]!
  } catch {
    return ''
  }
}

/** Returns the command line of a process, or '' if it has ended. */
export function commandOf(pid: number): string {
  try {
    if (startTimeOf(pid) === '') return ''
    if (process.platform !== 'linux') return ps(pid, 'args')
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Sends a signal; returns false if there is no such process. */
export function sendSignal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as { code?: string }).code === 'ESRCH') return false
    throw error
  }
}

/** Returns the id of a process's parent; 0 if it is unknown. */
export function parentOf(pid: number): number {
  try {
    if (process.platform === 'win32') return 0
    if (process.platform !== 'linux') return Number(ps(pid, 'ppid'))
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1])
  } catch {
    return 0
  }
}

export type Process = {
  pid: number
  parent: number
  born: string
  /** The processor time, in a unit that depends on the system. */
  time: string
}

/** Returns all running processes. On Windows the list is empty, because listing them is not implemented. */
export function processes(): Process[] {
  if (process.platform === 'win32') return []
  if (process.platform === 'linux') {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap(fromProc)
  }
  const list = execFileSync('ps', ['-axo', 'pid=,ppid=,time=,lstart='], { encoding: 'utf8' })
  return list.split('\n').flatMap((line) => {
    const [, pid, parent, time, born] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    return born ? [{ pid: Number(pid), parent: Number(parent), time: time!, born }] : []
  })
}

function fromProc(pid: string): Process[] {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
    if (fields[0] === 'Z') return []
    const [user, system] = fields.slice(11, 13)
    const time = String(Number(user) + Number(system))
    return [{ pid: Number(pid), parent: Number(fields[1]), born: fields[19]!, time }]
  } catch {
    return []
  }
}

export function treeOf(pid: number, all: Process[] = processes()): Process[] {
  const below = all.filter(({ parent }) => parent === pid).flatMap((child) =>
    treeOf(child.pid, all)
  )
  return [...all.filter((one) => one.pid === pid), ...below]
}
