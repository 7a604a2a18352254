// Part of npm run check. Checks that generated pages are current, citations are correct, lines of the
// contract are short, the apps' changelog lists each release, and only the files that declare environment
// variables read them.
import { wrongCitations } from './citations.ts'
import { undeclaredReads } from './environment.ts'
import { files } from './files.ts'
import { pages } from './pages.ts'

const stale = Object.entries(pages)
  .filter(([path, text]) => files.find((file) => file.path === path)?.text !== text)
  .map(([path]) => `${path} is not current: npm run docs`)

const long = files.filter(({ path }) => path.startsWith('docs/contract'))
  .flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) =>
      [...line].length > 240 ? `${path}:${index + 1} is over 240 characters: one rule a line` : []
    )
  )

const releasesIn = (page: string): string[] =>
  files.find(({ path }) => path === page)!.text.match(/^## \d.*/gm) ?? []
const forApps = 'docs/apps/changelog.md'
const untold = releasesIn('CHANGELOG.md').filter((one) => !releasesIn(forApps).includes(one))
  .map((one) => `${forApps} has no "${one}", as CHANGELOG.md has`)

const faults = [...stale, ...wrongCitations(), ...long, ...untold, ...undeclaredReads()]
for (const fault of faults) console.error(fault)
process.exitCode = faults.length ? 1 : 0
