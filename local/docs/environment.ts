import { settings } from '../../functions/_shared/settings/settings.ts'
import { variables } from '../config/environment.ts'
import { files } from './files.ts'

const readers = ['functions/_shared/settings/read-setting.ts', 'local/config/environment.ts']
/** Variables of the system, npm, Node, Deno and the real Auth, which need no declaration. */
const foreign = /^(PATH|HOME|TMPDIR|NODE_COMPILE_CACHE|DENO_DIR|npm_\w+|GOTRUE_\w+|VITE_\w+)$/
// Passing on the whole environment is not a read.
const reads = [
  /(?<!delete )\bprocess\.env\.(\w+)\b(?! = )/g,
  /\b(?:process\.env\[|Deno\.env\.get\()'?(\w*)/g,
]
const unpacked = /\{([^{}]*)\} = process\.env\b/g

/** Returns the variables that files other than `readers` read, and declared variables that none reads. */
export function undeclaredReads(): string[] {
  const code = files.filter(({ path }) => path.endsWith('.ts'))
  const others = code.filter(({ path }) => !readers.includes(path))
  const elsewhere = others.flatMap(({ path, text }) => {
    const names = reads.flatMap((read) => [...text.matchAll(read)].map(([, name]) => name!))
    const parts = [...text.matchAll(unpacked)].flatMap(([, list]) => list!.split(','))
      .map((part) => part.split(':')[0]!.trim())
    return [...names, ...parts].filter((name) => name !== '' && !foreign.test(name))
      .map((name) => `${path}: reads ${name} from the environment (see docs/settings.md)`)
  })
  const texts = code.filter(({ path }) => path !== 'functions/_shared/settings/settings.ts')
    .map(({ text }) => text).join('\n')
  const unused = [...Object.keys(settings), ...Object.keys(variables)]
    .filter((name) => !texts.includes(`'${name}'`))
    .map((name) => `${name} is declared, and nothing reads it`)
  return [...elsewhere, ...unused]
}
