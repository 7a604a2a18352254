// Tests the promised times of the local stack: ready within 30 s at the first start and within 8 s at later
// starts, stopped within 10 s.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { expectWithin } from '../../test/support/promised-times.ts'
import { freeStackPort } from '../../test/support/stack.ts'
import { ready, start } from '../../test/support/stack-program.ts'

test('a stack with demo data is ready soon, sooner the second time, and stops soon', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'timing-'))
  const settings = { PORT: String(await freeStackPort()), LOCAL_DATA: folder, SEED: 'demo' }
  const took = async (work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    return performance.now() - began
  }
  const turn = async () => {
    const stack = start(settings)
    const up = await took(() => ready(stack, folder))
    const down = await took(() => {
      stack.child.kill('SIGINT')
      return stack.ended
    })
    return [up, down] as const
  }
  try {
    const [first, stopped] = await turn()
    const [second, again] = await turn()
    expectWithin('a stack is ready for the first time', first)
    expectWithin('a stack is ready again', second)
    expectWithin('a stack has stopped', Math.max(stopped, again))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
