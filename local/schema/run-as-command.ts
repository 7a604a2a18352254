import { pathToFileURL } from 'node:url'
import { UserError } from '../stack/user-error.ts'

/** Runs a file as a command when it was started as one, and not when it is imported. */
export async function runAsCommand(
  url: string,
  command: (args: string[]) => Promise<void>,
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
