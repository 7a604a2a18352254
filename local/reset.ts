// npm run reset: deletes the data folder, so that the next start is like the first.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { assertNotRunning } from './stack/lock.ts'
import { stopLeftoverServer } from './postgres/cluster.ts'
import { isThere, sentenceOf } from './config/system-errors.ts'
import { UserError } from './config/user-error.ts'
import { readSettings } from './config/settings.ts'

try {
  const { dataDir } = readSettings(process.env)
  if (!isThere(dataDir)) {
    console.log(`There is nothing to reset: ${dataDir} does not exist.`)
  } else {
    assertNotRunning(dataDir)
    const ours = ['postgres', 'postgres.new', 'secrets.json', 'logs', 'supervisor.lock']
    if (!ours.some((name) => isThere(join(dataDir, name)))) {
      throw new UserError(`${dataDir} does not look like a data folder of this stack: left alone.`)
    }
    for (const name of ['replica', 'postgres']) {
      await stopLeftoverServer(dataDir, console.log, name).catch(() => {})
    }
    console.log(`Deleting ${dataDir}: database, keys, logs.`)
    rmSync(dataDir, { recursive: true, force: true })
    console.log('Done. "npm start" creates a new one.')
  }
} catch (error) {
  const sentence = sentenceOf(error)
  if (!sentence) throw error
  console.error(sentence)
  process.exit(1)
}
