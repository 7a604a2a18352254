import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { descendants, type Process } from '../test/support/descendants.ts'
import type { Stack } from '../test/support/stack.ts'

/** Returns the process of a stack whose command line contains this text. */
export function processOf({ folder }: Stack, text: string): Process {
  const { pid } = JSON.parse(readFileSync(join(folder, 'supervisor.lock'), 'utf8'))
  const found = descendants(pid).find(({ command }) => command.includes(text))
  if (!found) throw new Error(`no process of the stack has ${text} on its command line`)
  return found
}

/** Returns a function that reads the CPU time of a stack's Postgres in ms, or undefined without /proc. */
export function postgresTime({ folder }: Stack): () => number | undefined {
  const pid = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]!
  if (!existsSync(`/proc/${pid}/stat`)) return () => undefined
  return () =>
    readdirSync('/proc').filter((name) => /^\d+$/.test(name)).reduce((sum, name) => {
      try {
        // Splits only the fields after the name, because the name may contain spaces. Field 4 is the parent,
        // 14 and 15 are user and system time, 16 and 17 the times of exited children, each in hundredths of
        // a second.
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        if (name !== pid && fields[1] !== pid) return sum
        return sum +
          10 * fields.slice(11, name === pid ? 15 : 13).reduce((a, b) => a + Number(b), 0)
      } catch {
        return sum // the process has ended
      }
    }, 0)
}
