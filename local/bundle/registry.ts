// Serves an npm registry with exactly the packages of package-lock.json, so that a bundler uses the versions
// that were tested. The files come from npm or its cache.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../config/settings.ts'

type Locked = {
  version: string
  integrity?: string
  dev?: boolean
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, unknown>
}

const modules = 'node_modules/'

export function lockedPackages(): Map<string, Locked> {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  const found = Object.entries(packages).filter(([path, { dev, integrity }]) =>
    path.lastIndexOf(modules) === 0 && !dev && integrity
  )
  return new Map(found.map(([path, locked]) => [path.slice(modules.length), locked]))
}

export async function openRegistry() {
  const packages = lockedPackages()
  const folder = mkdtempSync(join(tmpdir(), 'packages-'))
  const files = await packed(packages, folder)
  const server = createServer(({ url = '', headers }, response) => {
    const [name, file] = decodeURIComponent(url.slice(1)).split('/-/')
    const locked = packages.get(name)
    if (!locked) return void response.writeHead(404).end()
    const { filename, shasum } = files.get(name)!
    if (file) return void response.end(readFileSync(join(folder, filename)))
    const { version, integrity, ...rest } = locked
    const tarball = `http://${headers.host}/${name}/-/${version}.tgz`
    const dist = { tarball, shasum, integrity }
    response.end(JSON.stringify({
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { name, version, dist, ...rest } },
    }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () => {
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function packed(packages: Map<string, Locked>, folder: string) {
  const packageNames = [...packages].map(([name, { version }]) => `${name}@${version}`)
  const args = ['pack', '--json', '--prefer-offline', '--pack-destination', folder, ...packageNames]
  const npm = process.env.npm_execpath
  const [command, before] = npm ? [process.execPath, [npm]] : ['npm', []]
  const { stdout } = await promisify(execFile)(command, [...before, ...args], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  })
  const files: { name: string; filename: string; shasum: string }[] = JSON.parse(stdout)
  return new Map(files.map((file) => [file.name, file]))
}
