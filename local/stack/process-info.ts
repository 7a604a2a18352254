// What the system knows of a process. Linux tells it in files; elsewhere ps does.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const ps = (pid: number, what: string) =>
  execFileSync('ps', ['-o', `${what}=`, '-p', String(pid)], { stdio: 'pipe' }).toString().trim()

/** When a process began, so that a number used anew is not taken for the old one; '' is gone. */
export function startTimeOf(pid: number): string {
  try {
    if (process.platform === 'win32') return process.kill(pid, 0) ? 'there' : ''
    if (process.platform !== 'linux') return ps(pid, 'lstart')
    // After the name in brackets, which may hold spaces, the twentieth field is the start time.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
    return fields[0] === 'Z' ? '' : fields[19]!
  } catch {
    return ''
  }
}

/** The command line of a process; '' when there is none (any more). */
export function commandOf(pid: number): string {
  try {
    if (startTimeOf(pid) === '') return ''
    if (process.platform !== 'linux') return ps(pid, 'args')
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** The process that started another, as the system still knows it; 0 is nobody. */
export function parentOf(pid: number): number {
  try {
    if (process.platform === 'win32') return 0
    if (process.platform !== 'linux') return Number(ps(pid, 'ppid'))
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1])
  } catch {
    return 0
  }
}
