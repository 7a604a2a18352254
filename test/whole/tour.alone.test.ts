import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { signUpAdmin } from '../support/admins.ts'
import { database, projectUrl } from '../support/client.ts'

const program = fileURLToPath(new URL('../tour.ts', import.meta.url))

async function admins() {
  const { rows } = await database().query('select account_id from public.admins order by 1')
  return rows
}

test('the tour goes through all of its steps', async () => {
  await signUpAdmin() // a second admin, because the last admin of a project cannot be removed
  const before = await admins()
  const { stdout } = await promisify(execFile)(process.execPath, [program, '--url', projectUrl])
  expect(stdout).toMatch(/✓ \d+ steps, all as the contract says\./)
  expect(await admins(), 'admins that it leaves behind').toEqual(before)
})

test('a tour for which a rate is used up says how to go on', async () => {
  const full = createServer((_request, response) =>
    response.writeHead(429, { 'retry-after': '900', 'content-type': 'application/json' })
      .end('{"error":{"code":"rate_limited"}}')
  ).listen(0, '127.0.0.1')
  await once(full, 'listening')
  const { port } = full.address() as AddressInfo
  const tour = promisify(execFile)(process.execPath, [program, '--url', `http://127.0.0.1:${port}`])
  await expect(tour).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/start the stack with RATES=off, or go again in 900 s/),
  })
  full.close()
})
