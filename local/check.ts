// npm run check: everything that can be checked without running the service.
import { spawn } from 'node:child_process'
import { denoBinary, denoPackages } from './config/packages.ts'
import { root } from './config/settings.ts'

const deno = denoBinary()
const config = ['--config', 'functions/deno.json']
const onDeno = ['functions', 'local/functions/main.ts', 'client/src']
const onNode = [
  'local',
  'test',
  'bench',
  'client/tools',
  'vitest.config.ts',
  'vitest.timing.config.ts',
]
// Node's own globals are allowed in code that runs on Node.
const nodeRules = ['--rules-exclude=no-node-globals,no-process-globals']

const checks: [what: string, command: string, args: string[]][] = [
  ['formatting', deno, ['fmt', '--check', ...config, 'functions', 'client', ...onNode]],
  ['lint of the functions', deno, ['lint', '--no-config', ...onDeno]],
  ['lint of the Node code', deno, ['lint', '--no-config', ...nodeRules, ...onNode]],
  ['types of the functions', deno, [
    'check',
    '--no-lock',
    ...denoPackages,
    'functions/api/index.ts',
    'functions/api/main.ts',
    'functions/chat/index.ts',
    'functions/jobs/index.ts',
    'local/functions/main.ts',
  ]],
  ['types of the Node code', process.execPath, [
    'node_modules/typescript/bin/tsc',
    '--project',
    '.',
  ]],
  ['types of the client', process.execPath, [
    'node_modules/typescript/bin/tsc',
    '--project',
    'client',
  ]],
  ['the client knows every route', process.execPath, ['client/tools/types.ts', '--check']],
  ['imports', process.execPath, ['local/check-imports.ts']],
  ['packages of the functions', process.execPath, ['local/bundle/check.ts']],
  ['lint of the description', process.execPath, ['local/docs/lint.ts']],
  ['docs, and what is cited', process.execPath, ['local/docs/check.ts']],
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
