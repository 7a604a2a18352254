import { dirname, join } from 'node:path/posix'
import { type File, files, paths } from './files.ts'

const textOf = (path: string) => files.find((file) => file.path === path)?.text ?? ''
const matches = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name]) => name!)

const cases = textOf('docs/cases.md')
const [, untested = ''] = /^## Cases without a test$(.*?)^## /ms.exec(cases) ?? []
/** The ids of cases, which are headings in docs/cases.md; promises, checks and figures are table rows. */
const caseIds = matches(cases, /^#### ([A-Z]+-\d\d) /gm)
const codes = new Set([...caseIds, ...matches(cases, /^\| ([A-Z]+-\d\d) \|/gm)])
const sections = new Set(
  files.filter(({ path }) => path.startsWith('docs/contract'))
    .flatMap(({ text }) => matches(text, /^## (\d+)\. /gm)),
)

const code = /\b(?!CRC|UTF)[A-Z]{1,6}-\d\d\b/g
const section = /contract(?:\.md\))?[, (]+section (\d+)/g
/** Matches citations that name no section of the contract, or a document that is not in docs/. */
const vague = /\(contract(?!, section \d)[,)]|section \d+ of the contract|specification/
/** File names are checked in comments and pages only, because code names files that do not exist here. */
const comment = /(?:^|\s)(?:--|\/\/|\/?\*\*?|#) (.*)/
const file = /(?<![\w/:.@<*-])(?:\.{1,2}\/)*([\w-][\w./-]*\.(?:ts|sql|md|toml))\b(?!\/)/g

function wrongIn({ path, text }: File): string[] {
  const wrong: string[] = []
  const page = path.endsWith('.md')
  text.split('\n').forEach((line, index) => {
    const at = `${path}:${index + 1}`
    for (const [name] of line.matchAll(code)) {
      if (!codes.has(name)) wrong.push(`${at}: docs/cases.md has no ${name}`)
    }
    for (const [, number] of line.matchAll(section)) {
      if (!sections.has(number!)) wrong.push(`${at}: docs/contract has no section ${number}`)
    }
    const [words] = path !== 'local/docs/citations.ts' && vague.exec(line) || []
    if (words) wrong.push(`${at}: "${words}": say (contract, section …)`)
    if (page) wrong.push(...brokenLinks(path, line).map((link) => `${at}: ${link} leads nowhere`))
    const said = page ? line : comment.exec(line)?.[1] ?? ''
    for (const [, name] of said.matchAll(file)) {
      const there = paths.some((one) => one === name || one.endsWith(`/${name}`))
      if (!there) wrong.push(`${at}: there is no file ${name}`)
    }
  })
  return wrong
}

function brokenLinks(from: string, line: string): string[] {
  return matches(line, /\]\(([^)\s:]+)\)/g).filter((link) => {
    const [page = '', heading] = link.split('#')
    const path = page ? join(dirname(from), page) : from
    if (!heading) return !paths.includes(path)
    const headings = matches(textOf(path), /^#+ (.*)$/gm)
      .map((text) => text.toLowerCase().replace(/[^\w\s-]/g, '').replaceAll(' ', '-'))
    return !headings.includes(heading)
  })
}

/** Reports cases that are neither cited by a test nor listed as untested, and cases that are both. */
function wrongCases(): string[] {
  const tests = files.filter(({ path }) => path.startsWith('test/') || path.endsWith('.test.ts'))
    .map(({ text }) => text).join(
      '\n',
    )
  const cited = new Set(tests.match(code))
  return caseIds.filter((id) => cited.has(id) === untested.includes(id)).map((id) =>
    cited.has(id)
      ? `docs/cases.md: ${id} has a test`
      : `docs/cases.md: no test carries the id ${id}, and it is not among the cases without a test`
  )
}

export const wrongCitations = (): string[] => [
  ...files.filter(({ path }) => path !== 'CHANGELOG.md').flatMap(wrongIn),
  ...wrongCases(),
]
