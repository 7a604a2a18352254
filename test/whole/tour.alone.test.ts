/** `npm run tour`, which a newcomer runs first. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { projectUrl } from '../support/client.ts'

test('the tour goes through all of its steps', async () => {
  const tour = fileURLToPath(new URL('../tour.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [tour, '--url', projectUrl])
  expect(stdout).toMatch(/✓ \d+ steps, all as the contract says\./)
})
