import { variable, type VariableName, variables } from '../../local/config/environment.ts'

const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export const patternOf = (name: string) => `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`

/** The test settings needed to reproduce a failure. They exclude the project's addresses and keys. */
const settings = Object.entries(variables)
  .filter(([name, { of }]) => of.includes('tests') && !/^(SUPABASE|DATABASE|INBOX)_/.test(name))
  .map(([name]) => name as VariableName)

export function commandFor(
  file: string,
  name?: string,
  env: NodeJS.ProcessEnv = process.env,
): string {
  const set = settings.filter((one) => env[one]).map((one) => `${one}=${quoted(env[one]!)}`)
  const pattern = name === undefined ? [] : ['-t', patternOf(name)]
  const words = [file.replaceAll('\\', '/'), ...pattern].map(quoted)
  return [...set, variable('RUN_BY', env)!, ...words].join(' ')
}
