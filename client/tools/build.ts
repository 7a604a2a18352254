import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const dist = folder('../dist')

rmSync(dist, { recursive: true, force: true })
await build({
  input: { index: folder('../src/index.ts'), chat: folder('../src/chat/index.ts') },
  // Hermes runs this version without further compilation.
  transform: { target: 'es2020' },
  output: { dir: dist, format: 'esm', minify: 'dce-only', chunkFileNames: 'shared.js' },
  logLevel: 'warn',
})
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
// Types are not checked here, because `npm run check` does that.
const types = ['--noEmit', 'false', '--declaration', '--emitDeclarationOnly', '--noCheck']
execFileSync(
  process.execPath,
  [
    tsc,
    '--project',
    folder('..'),
    ...types,
    '--outDir',
    `${dist}/types`,
    '--rootDir',
    folder('../..'),
  ],
  { stdio: 'inherit' },
)
