import { pathToFileURL } from 'node:url'
import { UserError } from '../config/user-error.ts'

/** Runs the command only if its file was started as a program, not if the file was imported. */
export async function runAsCommand(
  url: string,
  command: (args: string[]) => Promise<void> | void,
): Promise<void> {
  const started = process.argv[1]
  if (!started || pathToFileURL(started).href !== url) return
  try {
    await command(process.argv.slice(2))
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}
