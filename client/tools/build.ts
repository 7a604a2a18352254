// The files that apps install: one of JavaScript for each entry, types beside them.
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
  // What Hermes runs as it is.
  transform: { target: 'es2020' },
  output: { dir: dist, format: 'esm', minify: 'dce-only', chunkFileNames: 'shared.js' },
  logLevel: 'warn',
})
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
// Whether they are right is what `npm run check` looks at.
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
