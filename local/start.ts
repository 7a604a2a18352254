// npm start: runs the whole backend on this machine. docs/settings.md lists its settings.
import { sentenceOf } from './config/system-errors.ts'

try {
  const { readSettings } = await import('./config/settings.ts')
  readSettings(process.env)
  const { requirePackages } = await import('./config/packages.ts')
  requirePackages()
  // Imported late, because it imports packages, and a missing package must be reported with a clear message.
  const { run } = await import('./stack/supervisor.ts')
  await run()
} catch (error) {
  const sentence = sentenceOf(error)
  if (sentence) console.error(`\n${sentence}`)
  else if ((error as { code?: string }).code === 'ERR_MODULE_NOT_FOUND') {
    console.error(
      `\nA package is missing: run "npm ci" and start again.\n${(error as Error).message}`,
    )
  } else console.error(error)
  process.exit(1)
}
