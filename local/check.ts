// npm run check: all checks that need no running service, in two groups (rings), the quick ones first. If the
// first group fails, the second is skipped, unless --all is given. npm run format (--format) formats the same
// files.
import { spawn } from 'node:child_process'
import { denoBinary } from './config/packages.ts'
import { root } from './config/settings.ts'

const deno = denoBinary()
const onDeno = ['functions', 'local/functions/main.ts', 'client/src']
const onNode = [
  'local',
  'test',
  'bench',
  'client/tools',
  'vitest.config.ts',
  'vitest.timing.config.ts',
]
const format = (...flags: string[]) => [
  'fmt',
  ...flags,
  '--config',
  'functions/deno.json',
  'functions',
  'client',
  ...onNode,
]
const nodeRules = ['--rules-exclude=no-node-globals,no-process-globals']

/** `mend` is the command that fixes a failure. It is set only if the check's own output does not name it. */
type Check = { what: string; command: string; args: string[]; mend?: string }

const onOurNode = (what: string, ...args: string[]): Check => ({
  what,
  command: process.execPath,
  args,
})
// TypeScript 7 needs a tenth of the time. TypeScript 5 is installed as well, because tools need its API and
// apps use it.
const tsc = 'node_modules/typescript7/bin/tsc'

const rings: Check[][] = [
  [
    { what: 'formatting', command: deno, args: format('--check'), mend: 'npm run format' },
    { what: 'lint of the functions', command: deno, args: ['lint', '--no-config', ...onDeno] },
    {
      what: 'lint of the Node code',
      command: deno,
      args: [
        ...['lint', '--no-config', ...nodeRules, '--ignore=desk/dist,examples/web/dist'],
        ...['desk', 'examples', ...onNode],
      ],
    },
    onOurNode('imports', 'local/check-imports.ts'),
    onOurNode('arrows of sql/', 'local/schema/arrows.ts'),
    onOurNode('texts of clients', 'local/check-texts.ts'),
    onOurNode('packages of the functions', 'local/bundle/check.ts'),
    onOurNode('docs, and what is cited', 'local/docs/check.ts'),
  ],
  // Two checks run at a time, the slowest first, so that no long check is left to run alone at the end.
  [
    {
      what: 'types of the functions',
      command: deno,
      args: [
        'check',
        '--quiet',
        '--no-lock',
        // With --config functions/deno.json, Deno would look for Node's types in functions/.
        ...['--import-map', 'functions/deno.json', '--node-modules-dir=manual'],
        'functions/api/index.ts',
        'functions/api/main.ts',
        'functions/chat/index.ts',
        'functions/jobs/index.ts',
        'local/functions/main.ts',
      ],
    },
    onOurNode('schema', 'local/schema/check.ts'),
    onOurNode('types of the Node code', tsc, '--project', '.'),
    onOurNode('types of the client', tsc, '--project', 'client'),
    onOurNode('types of the desk', tsc, '--project', 'desk'),
    onOurNode('types of the example', tsc, '--project', 'examples'),
    {
      ...onOurNode('the client knows every route', 'client/tools/types.ts', '--check'),
      mend: 'npm run client:types',
    },
    onOurNode('the description, examples, and what docs show of it', 'local/docs/lint.ts'),
  ],
]

type Outcome = { code: number; said: string }

function run(command: string, args: string[]): Promise<Outcome> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, said }))
  })
}

async function go(ring: Check[]): Promise<Check[]> {
  const waiting = [...ring]
  const failed: Check[] = []
  const oneByOne = async () => {
    for (let one = waiting.shift(); one; one = waiting.shift()) {
      const { code, said } = await run(one.command, one.args)
      process.stdout.write(`-- ${one.what}\n${said}`)
      if (code !== 0) failed.push(one)
    }
  }
  await Promise.all([oneByOne(), oneByOne()])
  return failed
}

async function check(all: boolean): Promise<number> {
  const failed: Check[] = []
  for (const ring of rings) {
    failed.push(...await go(ring))
    if (failed.length && !all) break
  }
  for (const { what, mend } of failed) {
    console.log(`\nfailed: ${what}${mend ? `, mended by: ${mend}` : ''}`)
  }
  if (!failed.length) console.log('\nall checks passed')
  else if (!all) console.log('\nWhat comes after is not checked; npm run check -- --all does.')
  return failed.length ? 1 : 0
}

async function layOut(): Promise<number> {
  const { code, said } = await run(deno, format())
  process.stdout.write(said)
  return code
}

const given = process.argv.slice(2)
process.exitCode = given.includes('--format')
  ? await layOut()
  : await check(given.includes('--all'))
