// Creates and copies a freshly migrated project. `npm test` creates one (NEW_PROJECT), and every stack with
// an empty folder starts from a copy, because the migrations take most of the time of a first start.
// local/stack/stack.test.ts tests a complete first start.
import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { variable } from '../../local/config/environment.ts'
import { denoBinary, denoPackages } from '../../local/config/packages.ts'
import { push, root, writeProject } from '../../local/schema/cli.ts'
import { schemaPaths } from '../../local/schema/migration.ts'
import { onTemporaryServer } from '../../local/schema/temporary-server.ts'

/** The parts to copy: the database, its secrets and Deno's compiled functions. A start creates the rest. */
const parts = ['postgres', 'secrets.json', 'deno']

export const makeProject = (target: string): Promise<void> =>
  onTemporaryServer(async (server, folder) => {
    const { config, migrations } = schemaPaths
    await push(writeProject(join(folder, 'cli'), config, migrations), server.url)
    await server.stop()
    compileFunctions(join(folder, 'deno'))
    mkdirSync(target, { recursive: true })
    copyProject(folder, target)
  })

function compileFunctions(folder: string): void {
  const programs = ['local/functions/main.ts', ...globSync('functions/{api,chat,jobs}/index.ts')]
  execFileSync(denoBinary(), ['cache', '--no-remote', '--no-lock', ...denoPackages, ...programs], {
    cwd: root,
    env: { ...process.env, DENO_DIR: folder },
    stdio: 'pipe',
  })
}

/** Copies this run's project, or creates one if a test file runs by itself. */
export async function projectIn(folder: string): Promise<void> {
  const project = variable('NEW_PROJECT')
  if (project) copyProject(project, folder)
  else await makeProject(folder)
}

export function copyProject(from: string, to: string): void {
  for (const part of parts) {
    // -a keeps the files' owner: the server may run as another user.
    if (process.platform !== 'win32') execFileSync('cp', ['-a', join(from, part), to])
    else cpSync(join(from, part), join(to, part), { recursive: true })
  }
}
