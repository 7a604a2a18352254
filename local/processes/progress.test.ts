import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { hold } from '../../test/suite/held-processes.ts'
import { waitUntil } from '../../test/support/wait.ts'
import { processes, sendSignal, startTimeOf, treeOf } from './process-info.ts'
import { stuck } from './progress.ts'

const children: ChildProcess[] = []
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')))

async function start(code: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['-e', `console.log(1);${code}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  await once(child.stdout!, 'data')
  return child
}

const waits = 'setInterval(() => {}, 1e6)'
const works = 'for (;;);'
const aDay = 86_400_000

test.skipIf(process.platform === 'win32')(
  'a process that does nothing is stuck, one that works is not until it is stopped',
  async () => {
    const { pid } = await start(waits)
    await stuck(pid, { idle: 1000, limit: aDay })
    const busy = await start(works)
    let isStuck = false
    const found = stuck(busy.pid, { idle: 5000, limit: aDay }).then(() => (isStuck = true))
    // Meanwhile, the first process is found to be stuck several times.
    for (let nth = 0; nth < 3; nth++) await stuck(pid, { idle: 2500, limit: aDay })
    expect(isStuck).toBe(false)
    hold(busy.pid!)
    await found
  },
)

test.skipIf(process.platform === 'win32')(
  'who waits for one below that works gets on, and nobody waits for ever',
  async () => {
    const parent = await start(
      `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(works)}]);${waits}`,
    )
    await waitUntil('the child is there', () => treeOf(parent.pid!).length === 2)
    const [, child] = treeOf(parent.pid!)
    let isStuck = false
    const found = stuck(parent.pid, { idle: 5000, limit: aDay }).then(() => (isStuck = true))
    await stuck(parent.pid, { idle: aDay, limit: 8000 })
    expect(isStuck).toBe(false)
    process.kill(child!.pid, 'SIGKILL')
    await found
  },
)

test.skipIf(process.platform === 'win32')('the system lists this process once, as it is', () => {
  const mine = processes().filter(({ pid }) => pid === process.pid)
  expect(mine).toMatchObject([{ parent: process.ppid, born: startTimeOf(process.pid) }])
})

test('a signal to a process that has ended fails nobody', async () => {
  const child = await start(waits)
  expect(sendSignal(child.pid!, 'SIGKILL')).toBe(true)
  await once(child, 'exit')
  expect(sendSignal(child.pid!, 'SIGKILL')).toBe(false)
})
