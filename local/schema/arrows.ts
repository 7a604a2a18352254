// Checks (npm run check) that a file of sql/ uses only functions, tables, types and views of its own folder
// or an earlier one. Exceptions are in arrows-up.ts with their reasons.
import { join } from 'node:path'
import { root } from '../config/settings.ts'
import { type Exception, type Exceptions, exceptions } from './arrows-up.ts'
import { areasIn, type Script, scripts, scriptsIn } from './build.ts'
import { runAsCommand } from './run-as-command.ts'

export type Kind = keyof Exceptions

export type Arrow = {
  kind: Kind
  from: string
  to: string
  what: string
  file: string
  line: number
}

/** Returns the folder of a file in sql/, or the file's own name if it is directly in sql/. */
export const floorOf = (file: string) => file.split('/')[0]!.replace(/\.sql$/, '')

const blank = (text: string) => text.replace(/[^\n]/g, ' ')

/** Blanks out comments and `comment on`, which use nothing. Strings are kept, because some contain SQL. */
function statements(text: string): string {
  const string = `'(?:[^']|'')*'`
  return text
    .replace(
      new RegExp(`--[^\\n]*|/\\*[^]*?\\*/|${string}`, 'g'),
      (part) => part.startsWith(`'`) ? part : blank(part),
    )
    .replace(new RegExp(`^comment on (?:${string}|[^';])*;`, 'gm'), blank)
}

const definition = new RegExp(
  String.raw`\bcreate (?:or replace )?(?:unlogged )?(?:recursive )?` +
    String.raw`(function|procedure|aggregate|table|type|domain|view|sequence) ` +
    String.raw`(?:if not exists )?((?:api|private|public)\.\w+)`,
  'g',
)
const isCallable = (kind: string) => /function|procedure|aggregate/.test(kind)

export function arrowsIn(files: Script[]): Arrow[] {
  const read = files.map(({ name, text }) => ({ name, text: statements(text) }))
  const defined: Record<Kind, Map<string, string[]>> = { calls: new Map(), tables: new Map() }
  for (const { name, text } of read) {
    for (const [, kind, what] of text.matchAll(definition)) {
      const of = defined[isCallable(kind!) ? 'calls' : 'tables']
      of.set(what!, [...of.get(what!) ?? [], floorOf(name)])
    }
  }
  return read.flatMap(({ name, text }) => {
    const from = floorOf(name)
    return [...text.matchAll(/\b(?:api|private|public)\.\w+(\s*\()?/g)].flatMap((use) => {
      const what = use[0].replace(/\s*\($/, '')
      // If a function and a table have the same name, a parenthesis after it means a call.
      const kinds: Kind[] = use[1] ? ['calls', 'tables'] : ['tables', 'calls']
      const kind = kinds.find((one) => defined[one].has(what))
      if (!kind) return []
      const floors = defined[kind].get(what)!
      if (floors.includes(from)) return []
      const line = text.slice(0, use.index).split('\n').length
      return [{ kind, from, to: floors[0]!, what, file: name, line }]
    })
  })
}

export const isUp = ({ from, to }: { from: string; to: string }) => to > from

const verbs: Record<Kind, string> = { calls: 'calls', tables: 'uses' }

export function faults(arrows: Arrow[], listed: Exceptions): string[] {
  return (['calls', 'tables'] as const).flatMap((kind) => {
    const up = arrows.filter((arrow) => arrow.kind === kind && isUp(arrow))
    const usesOf = ({ from, to }: Pick<Exception, 'from' | 'to'>, what: string) =>
      up.filter((one) => one.from === from && one.to === to && one.what === what)
    const unlisted = up.flatMap(({ from, to, what, file, line }) => {
      const entry = listed[kind].find((one) => one.from === from && one.to === to)
      return entry && what in entry.what
        ? []
        : [`sql/${file}:${line} ${verbs[kind]} ${what} of ${to}, a later folder`]
    })
    const differing = listed[kind].flatMap((entry) => {
      const pair = `${entry.from} -> ${entry.to}`
      return [
        ...entry.why.trim() ? [] : [`${pair}: there is no reason`],
        ...Object.entries(entry.what).flatMap(([what, count]) => {
          const uses = usesOf(entry, what)
          if (uses.length === count) return []
          const locations = uses.map(({ file, line }) => `sql/${file}:${line}`).join(', ')
          return [
            `${pair}: ${count} of ${what} are listed, there are ${uses.length}` +
            (locations && ` (${locations})`),
          ]
        }),
      ]
    })
    return [...unlisted, ...differing]
  })
}

export function loaded(): Script[] {
  const sql = join(root, 'sql')
  return [
    ...scriptsIn(sql, scripts.before),
    ...areasIn(sql),
    ...scriptsIn(sql, scripts.after),
  ]
}

const count = (arrows: Arrow[], kind: Kind) => arrows.filter((one) => one.kind === kind).length

await runAsCommand(import.meta.url, () => {
  const arrows = arrowsIn(loaded())
  const up = arrows.filter(isUp)
  const found = faults(arrows, exceptions)
  for (const fault of found) console.log(fault)
  console.log(
    `across folders of sql/: ${count(arrows, 'calls')} calls, ${count(up, 'calls')} to a later ` +
      `folder; ${count(arrows, 'tables')} uses of tables, ${count(up, 'tables')} to a later folder`,
  )
  if (found.length) {
    console.log('What uses two folders goes to the later one: docs/conventions.md, The layout.')
    process.exitCode = 1
  }
})
