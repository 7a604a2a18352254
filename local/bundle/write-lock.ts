import { writeFileSync } from 'node:fs'
import { generateLock, lockFile } from './lock.ts'
import { openRegistry } from './registry.ts'

const registry = await openRegistry()
try {
  writeFileSync(lockFile, await generateLock(registry.url))
} finally {
  registry.close()
}
