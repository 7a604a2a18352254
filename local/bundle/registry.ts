// A local npm registry with exactly the packages in package-lock.json, so that the bundler uses the tested
// versions. It gets the files from npm or npm's cache.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../config/settings.ts'

type Locked = {
  name: string
  version: string
  integrity?: string
  dev?: boolean
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, unknown>
}

const modules = 'node_modules/'

/** Returns the production packages. Some of them are locked in several versions. */
export function lockedPackages(): Locked[] {
  const { packages }: { packages: Record<string, Omit<Locked, 'name'>> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(packages).flatMap(([path, locked]) =>
    path && !locked.dev && locked.integrity
      ? [{ ...locked, name: path.slice(path.lastIndexOf(modules) + modules.length) }]
      : []
  )
}

const idOf = ({ name, version }: { name: string; version: string }) => `${name}@${version}`

export async function openRegistry() {
  const packages = lockedPackages()
  const folder = mkdtempSync(join(tmpdir(), 'packages-'))
  const files = await packed(packages, folder)
  const server = createServer(({ url = '', headers }, response) => {
    const [name, file] = decodeURIComponent(url.slice(1)).split('/-/')
    const all = packages.filter((one) => one.name === name)
    if (!all.length) return void response.writeHead(404).end()
    if (file) {
      const { filename } = files.get(`${name}@${file.replace(/\.tgz$/, '')}`)!
      return void response.end(readFileSync(join(folder, filename)))
    }
    const versions = all.map(({ integrity, ...rest }) => {
      const tarball = `http://${headers.host}/${name}/-/${rest.version}.tgz`
      const { shasum } = files.get(idOf(rest))!
      return [rest.version, { ...rest, dist: { tarball, shasum, integrity } }]
    })
    response.end(JSON.stringify({
      name,
      'dist-tags': { latest: all[0]!.version },
      versions: Object.fromEntries(versions),
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

async function packed(packages: Locked[], folder: string) {
  const ids = new Set(packages.map(idOf))
  const args = ['pack', '--json', '--prefer-offline', '--pack-destination', folder, ...ids]
  const npm = process.env.npm_execpath
  const [command, before] = npm ? [process.execPath, [npm]] : ['npm', []]
  const { stdout } = await promisify(execFile)(command, [...before, ...args], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  })
  const files: { name: string; version: string; filename: string; shasum: string }[] = JSON.parse(
    stdout,
  )
  return new Map(files.map((file) => [idOf(file), file]))
}
