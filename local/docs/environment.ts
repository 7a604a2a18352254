// The environment is read in two places, which know what there is.
import { settings } from '../../functions/_shared/settings.ts'
import { variables } from '../config/environment.ts'
import { files } from './files.ts'

const readers = ['functions/_shared/read-setting.ts', 'local/config/environment.ts']
/** Those of the system, of npm, Deno and the real Auth. */
const foreign = /^(PATH|HOME|TMPDIR|DENO_DIR|npm_\w+|GOTRUE_\w+)$/
// By name; what hands on the whole environment reads nothing.
const reads = [
  /(?<!delete )\bprocess\.env\.(\w+)\b(?! = )/g,
  /\b(?:process\.env\[|Deno\.env\.get\()'?(\w*)/g,
]
const unpacked = /\{([^{}]*)\} = process\.env\b/g

/** Names that are read elsewhere, and those that are declared and read nowhere. */
export function undeclaredReads(): string[] {
  const code = files.filter(({ path }) => path.endsWith('.ts') && !readers.includes(path))
  const elsewhere = code.flatMap(({ path, text }) => {
    const names = reads.flatMap((read) => [...text.matchAll(read)].map(([, name]) => name!))
    const parts = [...text.matchAll(unpacked)].flatMap(([, list]) => list!.split(','))
      .map((part) => part.split(':')[0]!.trim())
    return [...names, ...parts].filter((name) => name !== '' && !foreign.test(name))
      .map((name) => `${path}: reads ${name} from the environment (see docs/settings.md)`)
  })
  const texts = code.filter(({ path }) => path !== 'functions/_shared/settings.ts')
    .map(({ text }) => text).join('\n')
  const unused = [...Object.keys(settings), ...Object.keys(variables)]
    .filter((name) => !texts.includes(`'${name}'`))
    .map((name) => `${name} is declared, and nothing reads it`)
  return [...elsewhere, ...unused]
}
