// Runs after `npm ci`, with whatever Node npm uses: links the Node among the project's packages, so that all
// npm scripts run with it. npm links it, too, but npm 10 removes the link together with the packages of other
// platforms.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'fs'
import { dirname, join } from 'path'
import { fileURLToPath } from 'url'

const modules = join(dirname(fileURLToPath(import.meta.url)), '../../node_modules')
const isWindows = process.platform === 'win32'
const platform = `${isWindows ? 'win' : process.platform}-${process.arch}`
const file = isWindows ? 'bin/node.exe' : 'bin/node'
const found = [`node-${platform}`, `node-bin-${platform}`]
  .map((name) => `${name}/${file}`)
  .find((path) => existsSync(join(modules, path)))
const link = join(modules, '.bin', isWindows ? 'node.cmd' : 'node')

if (found && !existsSync(link)) {
  mkdirSync(dirname(link), { recursive: true })
  if (isWindows) writeFileSync(link, `@"%~dp0\\..\\${found.replace(/\//g, '\\')}" %*\r\n`)
  else symlinkSync(join('..', found), link)
}
const [major, minor] = process.versions.node.split('.').map(Number)
if (!found && major * 100 + minor < 2218) {
  console.error(
    `\nnpm has no Node for ${platform}, so the commands run with yours, ${process.version}; 22.18 or newer is needed.\n`,
  )
  process.exit(1)
}
