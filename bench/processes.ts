import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { descendants, type Process } from '../test/support/descendants.ts'
import type { Stack } from '../test/support/stack.ts'

/** The process of a stack whose command line holds this text. */
export function processOf({ folder }: Stack, text: string): Process {
  const { pid } = JSON.parse(readFileSync(join(folder, 'supervisor.lock'), 'utf8'))
  const found = descendants(pid).find(({ command }) => command.includes(text))
  if (!found) throw new Error(`no process of the stack has ${text} on its command line`)
  return found
}
