// Imports of the functions run one way, types included, and no file or area reaches itself by them.
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { root } from '../stack/settings.ts'

const folder = join(root, 'functions')

/** What each room may import, besides itself. */
const mayImport: Record<string, string[]> = {
  '_shared': [],
  'payments': ['_shared'],
  'pictures': ['_shared'],
  'api/http': ['_shared'],
  'api': ['api/http', 'payments', 'pictures', '_shared'],
  'chat': ['payments', 'pictures', '_shared'],
  'jobs': ['payments', 'pictures', '_shared'],
}

type Graph = Map<string, Set<string>>

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'))

const importPattern =
  /^(?:import|export)\b[^'"]*?\bfrom '(\.[^']+)'|\bimport\('(\.[^']+)'\)|^import '(\.[^']+)'/gm

const imports: Graph = new Map(files.map((file) => {
  const text = readFileSync(join(folder, file), 'utf8')
  const targets = [...text.matchAll(importPattern)].map((match) =>
    posix.join(posix.dirname(file), match[1] ?? match[2] ?? match[3]!)
  )
  return [file, new Set(targets.filter((target) => !target.startsWith('../')))]
}))

const roomOf = (file: string) =>
  file.startsWith('api/http/') ? 'api/http' : file.slice(0, file.indexOf('/'))

/** The area of a file of the facade: its folder, or the file itself. */
const areaOf = (file: string) => file.split('/').slice(0, 2).join('/').replace(/\.ts$/, '')

function circlesIn(graph: Graph): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const visit = (node: string, path: string[]) => {
    if (path.includes(node)) {
      return void circles.push([...path.slice(path.indexOf(node)), node].join(' -> '))
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...path, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return circles
}

const areas: Graph = new Map()
const faults: string[] = []
for (const [file, targets] of imports) {
  for (const target of targets) {
    const [from, to] = [roomOf(file), roomOf(target)]
    if (from !== to && !mayImport[from]?.includes(to)) faults.push(`up: ${file} -> ${target}`)
    if (from !== 'api' || to !== 'api' || areaOf(file) === areaOf(target)) continue
    areas.set(areaOf(file), (areas.get(areaOf(file)) ?? new Set()).add(areaOf(target)))
  }
}
faults.push(...circlesIn(imports).map((circle) => `circle: ${circle}`))
faults.push(...circlesIn(areas).map((circle) => `circle of areas: ${circle}`))

for (const fault of faults) console.log(fault)
process.exitCode = faults.length ? 1 : 0
