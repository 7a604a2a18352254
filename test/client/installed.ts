import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const root = here('../..')
// The npm found on PATH may belong to another version of Node, which does not matter.
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

const checked = ['first-day.ts', 'first-day-in-browser.ts', 'tab-in-browser.ts', 'types.ts']
const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: [],
}

export class InstalledClient {
  readonly checked = checked
  readonly folder = mkdtempSync(join(tmpdir(), 'first-day-'))

  /** Packs the client and installs the package without network access. */
  async install(): Promise<void> {
    const pack = ['pack', join(root, 'client'), '--pack-destination', this.folder, '--json']
    const { stdout } = await run(npm, pack, { cwd: root })
    const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('[\n')))
    this.write('package.json', { private: true, type: 'module' })
    for (const file of [...checked, 'first-day-on-server.ts']) {
      copyFileSync(here(file), this.path(file))
    }
    const install = ['install', '--offline', '--no-audit', '--no-fund', `./${filename}`]
    await run(npm, install, { cwd: this.folder })
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts)
  }

  packed(...parts: string[]): string {
    return this.path('node_modules', 'kuwait-property-client', ...parts)
  }

  read(path: string): string {
    return readFileSync(path, 'utf8')
  }

  write(name: string, content: object): string {
    writeFileSync(this.path(name), JSON.stringify(content))
    return this.path(name)
  }

  /**
   * Compiles the project's files and `more`. Returns a function that returns the compiler's
   * messages about given files.
   */
  async compile(...more: string[]): Promise<(...files: string[]) => string> {
    this.write('tsconfig.json', { compilerOptions, files: [...this.checked, ...more] })
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    const said = await this.run(process.execPath, tsc, '--project', '.').catch(
      ({ stdout }) => stdout as string,
    )
    const complaints = said.split(/^(?=\S)/m)
    return (...files) =>
      complaints.filter((text) => files.some((file) => text.startsWith(`${file}(`))).join('')
  }

  async run(program: string, ...args: string[]): Promise<string> {
    return (await run(program, args, { cwd: this.folder })).stdout
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}
