// The embedded stack's figures: ready within 30 s the first time, 8 s after that, stopped within 10
// s.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePorts } from '../../test/support/stack.ts'
import { ready, start } from '../../test/support/stack-program.ts'

test('a stack with demo data is ready soon, sooner the second time, and stops soon', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'timing-'))
  const settings = { PORT: String(await freePorts()), LOCAL_DATA: folder, SEED: 'demo' }
  const took = async (work: () => Promise<unknown>) => {
    const began = performance.now()
    await work()
    return (performance.now() - began) / 1000
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
    console.log(
      `ready in ${first.toFixed(1)} s, then ${second.toFixed(1)} s; ` +
        `stopped in ${stopped.toFixed(1)} s and ${again.toFixed(1)} s`,
    )
    expect(first).toBeLessThan(30)
    expect(second).toBeLessThan(8)
    expect(Math.max(stopped, again)).toBeLessThan(10)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
