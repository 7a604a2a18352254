import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Copies node_modules from `here`, which needs no registry, or runs `npm ci` if the lock files differ. */
export function packagesFor(folder: string, here: string) {
  const [theirs, ours] = [lockedIn(folder), lockedIn(here)]
  if (theirs === ours) {
    return cpSync(join(here, 'node_modules'), join(folder, 'node_modules'), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status}.`)
}

function lockedIn(folder: string): string {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  const { '': { version: _, ...own }, ...others } = packages
  return JSON.stringify([own, others])
}
