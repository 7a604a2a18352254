// docs/jobs.md lists every job and, for jobs that write for an owner, the effect in each state of the owner.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

test('the tables of jobs have every job, once', () => {
  const jobs = readFileSync('functions/jobs/index.ts', 'utf8').split('async function untilDone')[0]!
  const run = [...jobs.matchAll(/^ {2}'?(\w+)(?:',|: )/gm)].map(([, name]) => name!)
  expect(run.length).toBeGreaterThan(50)
  const cells = [...readFileSync('docs/jobs.md', 'utf8').matchAll(/^\| (`[^|]+) \|/gm)]
    .flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)].map(([, name]) => name!))
  expect(cells.toSorted()).toEqual(run.toSorted())
})

test('each job that writes for an owner says what it does in each state', () => {
  const rows = readFileSync('docs/jobs.md', 'utf8').split('\n')
    .filter((line) => /^\| `\w+` \|/.test(line) && line.split('|').length === 7)
  expect(rows.length).toBeGreaterThan(20)
  for (const row of rows) {
    for (const cell of row.split('|').slice(1, -1)) expect(cell.trim(), row).not.toBe('')
  }
})
