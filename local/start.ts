// npm start: the whole backend on this machine. Settings: PORT, HOST, LOCAL_DATA, SEED, RATES, REPLICAS.
import { sentenceOf } from './config/system-errors.ts'

try {
  const { readSettings } = await import('./config/settings.ts')
  readSettings(process.env)
  const { requirePackages } = await import('./config/packages.ts')
  requirePackages()
  // Imported only now: these files import packages, and a missing one should be reported in a sentence.
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
