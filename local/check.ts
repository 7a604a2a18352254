// npm run check: everything that can be said of the code without running the service.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name: string) => join(root, 'node_modules', '.bin', name)

const config = ['--config', 'functions/deno.json']
const ours = ['functions', 'local', 'test', 'bench', 'vitest.config.ts', 'vitest.timing.config.ts']

const checks: [what: string, command: string, args: string[]][] = [
  ['formatting', bin('deno'), ['fmt', '--check', ...config, ...ours]],
  ['lint', bin('deno'), ['lint', ...config, ...ours]],
  ['types of the functions', bin('deno'), [
    'check',
    ...config,
    'functions/api/index.ts',
    'functions/chat/index.ts',
    'functions/chat/main.ts',
    'functions/chat/client.ts',
    'local/chat.ts',
    'functions/jobs/index.ts',
    'local/functions.ts',
  ]],
  ['types of the Node code', bin('tsc'), ['--project', '.']],
  ['schema', process.execPath, ['local/schema/check.ts']],
]

function run(command: string, args: string[]): Promise<number> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

const failed: string[] = []
for (const [what, command, args] of checks) {
  console.log(`-- ${what}`)
  if (await run(command, args) !== 0) failed.push(what)
}
console.log(failed.length ? `\nfailed: ${failed.join(', ')}` : '\nall checks passed')
process.exitCode = failed.length ? 1 : 0
