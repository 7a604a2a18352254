import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const script = new URL('own-node.js', import.meta.url)

test.skipIf(process.platform === 'win32')(
  'npm scripts run with the Node of the project, also where npm has not linked it',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'own-node-'))
    try {
      const config = join(folder, 'local/config')
      const ours = join(folder, `node_modules/node-${process.platform}-${process.arch}/bin`)
      for (const one of [config, ours]) mkdirSync(one, { recursive: true })
      cpSync(script, join(config, 'own-node.mjs'))
      symlinkSync(process.execPath, join(ours, 'node'))
      const link = join(folder, 'node_modules/.bin/node')
      for (const _ of ['first', 'again']) {
        execFileSync(process.execPath, [join(config, 'own-node.mjs')])
        expect(execFileSync(link, ['--version']).toString().trim()).toBe(process.version)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)
