import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../config/settings.ts'

export type File = { path: string; text: string }

const skipped = new Set(['node_modules', 'migrations', 'vectors', '.git', '.local', 'site'])
const written = /\.(ts|sql|md|toml|yml)$/

function under(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (skipped.has(entry.name)) return []
    return entry.isDirectory() ? under(path) : [path]
  })
}

/** The paths of all files outside the skipped folders. */
export const paths = under('.').map((path) => path.replaceAll('\\', '/'))

export const files: File[] = paths.filter((path) => written.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
