import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from './user-error.ts'
import { root } from './settings.ts'

const modules = join(root, 'node_modules')

const needed = [
  'pg/package.json',
  'jose/package.json',
  'bcrypt/package.json',
  'ws/package.json',
  '@fastify/busboy/package.json',
  '@supabase/lite/package.json',
  'supabase/dist/supabase.js',
]

const missing = (name: string) =>
  new UserError(`The package ${name} is missing or incomplete: run "npm ci" and start again.`)

export function requirePackages(): void {
  for (const path of needed) {
    if (!existsSync(join(modules, path))) {
      throw missing(path.replace(/\/(package.json|dist.*)$/, ''))
    }
  }
  denoBinary()
}

/** Options that make Deno use node_modules. Hosted projects have none, so deno.json does not set them. */
export const denoPackages = [
  '--config',
  join(root, 'functions', 'deno.json'),
  '--node-modules-dir=manual',
]

/** Returns the path of the Deno binary. Killing npm's wrapper script instead would leave Deno running. */
export function denoBinary(): string {
  const file = process.platform === 'win32' ? 'deno.exe' : 'deno'
  const platform = join(modules, '@deno')
  const folders = existsSync(platform) ? readdirSync(platform).map((name) => `@deno/${name}`) : []
  for (const folder of ['deno', ...folders]) {
    const path = join(modules, folder, file)
    if (existsSync(path)) return path
  }
  throw missing('deno')
}
