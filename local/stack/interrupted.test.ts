import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { processes } from '../processes/process-info.ts'
import { descendants } from '../../test/support/descendants.ts'
import { bulk, isNightly } from '../../test/support/nightly.ts'
import { freeStackPort } from '../../test/support/stack.ts'
import { ready, type Settings, start } from '../../test/support/stack-program.ts'
import { pause, waitUntil } from '../../test/support/wait.ts'

describe.runIf(process.platform !== 'win32')('Ctrl-C', () => {
  const folder = mkdtempSync(join(tmpdir(), 'local-interrupted-'))
  let settings: Settings

  beforeAll(async () => {
    settings = { PORT: String(await freeStackPort()), LOCAL_DATA: folder, SEED: 'demo' }
  })

  let running: ReturnType<typeof start> | undefined
  afterAll(async () => {
    running?.child.kill('SIGINT')
    await running?.ended
    rmSync(folder, { recursive: true, force: true })
  })

  /** Starts a stack and, `later` ms after an output, sends SIGINT to all its processes as a terminal does. */
  async function interrupted(said: string, later = 0) {
    const stack = running = start(settings, { group: true })
    await waitUntil(
      `it says "${said}" or is ready`,
      () => [said, 's  ready'].some((words) => stack.said.out.includes(words)),
    )
    await pause(later, 'any moment is right')
    const parts = descendants(stack.child.pid!)
    process.kill(-stack.child.pid!, 'SIGINT')
    const { code, err, out } = await stack.ended
    // If our code does not run yet, the signal ends Node itself.
    expect(code === 0 || out === '').toBe(true)
    expect(err).not.toMatch(/\n\s+at /)
    const pids = new Set(parts.map(({ pid }) => pid))
    await waitUntil('no process is left', () => processes().every(({ pid }) => !pids.has(pid)))
    for (const left of ['supervisor.lock', 'stack.json', 'postgres/postmaster.pid']) {
      if (out) expect(existsSync(join(folder, left)), left).toBe(false)
    }
  }

  async function sql(url: string, text: string) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows
  }

  const counts = `select (select count(*)::int from public.properties) as listings,
    (select count(*)::int from storage.objects) as objects,
    (select count(*)::int from public.media where bucket <> 'documents') as pictures`

  test('CRASH-05 in the first start, and in later ones', async () => {
    const interruptions = bulk(12, 1)
    if (isNightly) await interrupted('', 0)
    await interrupted('cluster made')
    // These interruptions happen during the migrations.
    for (let i = 0; i < interruptions; i++) {
      await interrupted('database on', bulk(300, 1500) + (i * 4000) / interruptions)
    }
    for (const later of isNightly ? [0, 5000, 10_000, 15_000, 20_000] : [1000]) {
      await interrupted('loading the demo data', later)
    }
    // Loading the demo data takes longest, so in a normal run it is never completed.
    if (!isNightly) settings.SEED = 'none'
    for (const said of isNightly ? ['demo data loaded', 's  ready'] : []) await interrupted(said)
    let stack = running = start(settings)
    const { databaseUrl } = await ready(stack, folder)
    const [before] = await sql(databaseUrl, counts)
    expect(isNightly ? [2000] : [0, 2000]).toContain(before.listings)
    expect(before.objects > before.pictures).toBe(before.listings > 0)
    stack.child.kill('SIGINT')
    expect(await stack.ended).toMatchObject({ code: 0 })
    for (let i = 0; i < interruptions; i++) {
      await interrupted('', bulk(300, 600) + (i * 1500) / interruptions)
    }
    if (isNightly) await interrupted('services ready')
    stack = running = start(settings)
    await ready(stack, folder)
    expect(await sql(databaseUrl, counts)).toEqual([before])
    stack.child.kill('SIGINT')
    expect(await stack.ended).toMatchObject({ code: 0 })
    expect(readdirSync(folder)).not.toContain('postgres.new')
  })
})
