// A stack is backed up while in use, lost, and restored: as docs say for a project of
// one's own (a hosted one restores from the platform's backups).
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { passwordOf, secretsOf } from '../../local/stack/secrets.ts'
import { invariants } from './invariant-checks.ts'
import { completeFields } from '../support/listings.ts'
import { jpeg } from '../support/pictures.ts'
import { freePorts, startStack } from '../support/stack.ts'

type Person = { token: string; identityId: string }

test('MIG-05 a backup made under load gives the same answers, pictures included', async () => {
  const port = await freePorts()
  const settings = { PORT: String(port), RATES: 'off', HASHING: 'quick', NODE_ENV: 'test' }
  const base = `http://127.0.0.1:${port}/functions/v1/api`
  const ask = async (path: string, person?: Person, body?: unknown) => {
    const form = body instanceof FormData
    const response = await fetch(path.startsWith('http') ? path : base + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(person && { authorization: `Bearer ${person.token}` }),
        ...(body !== undefined && !form && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : form ? body : JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  const signUp = async (): Promise<Person> => {
    const account = { identifier: `${randomUUID()}@example.com`, password: randomUUID() }
    await ask('/auth/register', undefined, account)
    const session = JSON.parse((await ask('/auth/login', undefined, account)).text)
    return { token: session.accessToken, identityId: session.activeIdentity.id }
  }
  const offer = async (person: Person) =>
    JSON.parse((await ask('/properties', person, { ...completeFields.SALE, publish: true })).text)
      .id

  const stack = await startStack(settings)
  const copy = mkdtempSync(join(tmpdir(), 'property-restore-'))
  let restored: Awaited<ReturnType<typeof startStack>> | undefined
  try {
    const [seller, buyer] = [await signUp(), await signUp()]
    const propertyId = await offer(seller)
    const form = new FormData()
    form.append('propertyId', propertyId)
    const picture = jpeg({ width: 32, height: 32 })
    form.append('files', new Blob([new Uint8Array(picture)], { type: 'image/jpeg' }), 'a.jpg')
    const uploaded = JSON.parse((await ask('/media/upload/listings', seller, form)).text)
    await ask(`/favorites/${propertyId}`, buyer, {})
    const message = { propertyId, message: 'هل العقار متاح؟' }
    const { id } = JSON.parse((await ask('/conversations', buyer, message)).text)
    await ask('/wallet/topup', buyer, { amount: 10 })
    const requests: [string, Person?][] = [
      ...[seller, buyer].flatMap((person): [string, Person][] =>
        ['/auth/me', '/properties/mine', '/favorites', '/conversations', '/wallet', '/invoices']
          .map((path) => [path, person])
      ),
      [`/conversations/${id}/messages`, seller],
      [`/properties/${propertyId}`],
      [uploaded.files[0].url],
    ]
    const answers = async () => {
      const given = []
      for (const [path, person] of requests) given.push([path, await ask(path, person)])
      return given
    }
    const before = await answers()

    // Requests go on while the folder is copied.
    let working = true
    const work = (async () => {
      while (working) await offer(await signUp())
    })()
    const admin = new pg.Client({
      connectionString: stack.databaseUrl.replace(
        /postgres:[^@]+@/,
        `supabase_admin:${passwordOf(secretsOf(stack.folder), 'supabase_admin')}@`,
      ),
    })
    await admin.connect()
    await admin.query(`select pg_backup_start('drill', true)`)
    const copied = () =>
      // A file that goes while it is copied is no loss: the log has it.
      execFileSync('sh', ['-c', 'cp -a "$1/." "$2/" 2>/dev/null || true', 'sh', stack.folder, copy])
    copied()
    const { rows } = await admin.query('select labelfile from pg_backup_stop(false)')
    const log = join(copy, 'postgres', 'pg_wal')
    execFileSync('sh', [
      '-c',
      'cp -a "$1/." "$2/"',
      'sh',
      join(stack.folder, 'postgres', 'pg_wal'),
      log,
    ])
    await admin.end()
    working = false
    await work
    await stack.stop()

    const label = join(copy, 'postgres', 'backup_label')
    writeFileSync(label, rows[0].labelfile)
    // The server may run as another user.
    const { uid, gid } = statSync(join(copy, 'postgres', 'PG_VERSION'))
    chownSync(label, uid, gid)
    for (const name of ['supervisor.lock', 'stack.json', 'postgres/postmaster.pid']) {
      rmSync(join(copy, name), { force: true })
    }
    restored = await startStack({ ...settings, LOCAL_DATA: copy })
    expect(await answers()).toEqual(before)
    const client = new pg.Client({ connectionString: restored.databaseUrl })
    await client.connect()
    for (const { id, says, sql } of invariants) {
      expect.soft((await client.query(sql)).rows, `${id} ${says}`).toEqual([])
    }
    await client.end()
  } finally {
    await (restored ?? stack).stop()
    rmSync(copy, { recursive: true, force: true })
  }
})
