import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { mobilePrefixes } from '../../functions/_shared/input/identifiers.ts'
import { variable } from '../../local/config/environment.ts'
import { database, request } from '../support/client.ts'
import { defaultSettings, hasStack } from '../support/facade.ts'
import { invariants } from './invariant-checks.ts'
import { warningsIn } from '../support/stack.ts'
import { recordedSecrets } from '../support/recorded-secrets.ts'

const personal = new RegExp(
  `(?<![\\da-f])965(?=${mobilePrefixes})\\d{8}(?![\\da-f])|@example\\.com`,
)

const planted = randomUUID()

describe('what must always hold', () => {
  test.each(invariants)('$id $says', async ({ sql }) => {
    expect((await database().query(sql)).rows).toEqual([])
  })
})

// An error that must not stop an action, such as an error in another person's notification, is swallowed and
// raises an alarm.
describe('nothing was swallowed', () => {
  test('by our functions', async () => {
    const { rows } = await database().query(
      `select kind, subject_id, details from private.alarms
       where kind in ('notification_failed', 'broadcast_failed', 'sign_in_unrecorded',
         'rate_uncounted', 'call_failed')`,
    )
    expect(rows).toEqual([])
  })

  test.runIf(hasStack)('G-05 with a warning in the log of the database', () => {
    expect(warningsIn(variable('LOCAL_STACK')!)).toEqual([])
  })
})

// answers.ts has also searched every response of the suite for these keys.
describe.runIf(hasStack)('ISO-13 keys with full rights stay inside', () => {
  const secrets = () => {
    const { SUPABASE_SECRET_KEYS, CODE_SECRET, SEAL_KEY, FACADE_DB_URL } = defaultSettings()
    return [
      ...Object.values(JSON.parse(SUPABASE_SECRET_KEYS!) as Record<string, string>),
      CODE_SECRET!,
      SEAL_KEY!,
      new URL(FACADE_DB_URL!).password,
      new URL(variable('DATABASE_URL')!).password,
    ]
  }

  test('no log names a key, a password of the database or a token', () => {
    const folder = join(variable('LOCAL_STACK')!, 'logs')
    const logs = readdirSync(folder)
    expect(logs.length).toBeGreaterThan(2)
    for (const log of logs) {
      const text = readFileSync(join(folder, log), 'utf8')
      for (const secret of secrets()) expect(text.includes(secret), log).toBe(false)
      expect(/eyJ[\w-]{10,}\.eyJ[\w-]{10,}\./.test(text), log).toBe(false)
    }
  })

  test('OPS-01 no log names a password, a token or a full number that the suite used', async () => {
    await request('POST', '/auth/login', { identifier: 'nobody@example.com', password: planted })
    const used = recordedSecrets()
    expect(used.has(planted)).toBe(true)
    const folder = join(variable('LOCAL_STACK')!, 'logs')
    let requests = 0
    for (const log of readdirSync(folder)) {
      const lines = readFileSync(join(folder, log), 'utf8').split('\n')
      for (const word of new Set(lines.flatMap((line) => line.split(/[\s",:=\\]+/)))) {
        expect(used.has(word), `${log}: ${word.slice(0, 4)}…`).toBe(false)
      }
      for (const line of lines.filter((one) => one.startsWith('{') && one.includes('"route"'))) {
        const entry = JSON.parse(line)
        requests++
        expect(entry).toMatchObject({
          time: expect.any(String),
          requestId: expect.any(String),
          route: expect.any(String),
          status: expect.any(Number),
        })
        expect(line, line).not.toMatch(personal)
      }
    }
    expect(requests).toBeGreaterThan(0)
  })

  test('no connection was refused: the parts share 60', () => {
    const log = readFileSync(join(variable('LOCAL_STACK')!, 'logs', 'postgres.log'), 'utf8')
    expect(log).toContain('database system is ready')
    expect(log.split('\n').filter((line) => /too many clients|connection slots/.test(line)))
      .toEqual([])
  })

  test('no file of the project holds one', () => {
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const files = execFileSync('git', ['ls-files', '-z'], { cwd: root }).toString().split('\0')
    for (const file of files.filter(Boolean)) {
      let text = ''
      try {
        text = readFileSync(join(root, file), 'utf8')
      } catch {
        continue // deleted and not yet committed
      }
      for (const secret of secrets()) expect(text.includes(secret), file).toBe(false)
      expect(/sb_secret_[\w-]{20,}|BEGIN [A-Z ]*PRIVATE KEY-----\n[A-Za-z0-9]/.test(text), file)
        .toBe(false)
    }
  })
})
