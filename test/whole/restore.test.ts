// A stack is backed up while in use, lost, and restored as the docs describe (a hosted project is restored
// from the platform's backups).
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test } from 'vitest'
import { invariants } from './invariant-checks.ts'
import { adminOf, backUp, copyFolder } from '../support/backup.ts'
import { completeFields } from '../support/listings.ts'
import { pdf } from '../support/pdf.ts'
import { jpeg } from '../support/pictures.ts'
import { freePorts, startStack } from '../support/stack.ts'
import { waitUntil } from '../support/wait.ts'

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

    let working = true
    const work = (async () => {
      while (working) await offer(await signUp())
    })()
    await backUp(stack, copy)
    working = false
    await work
    await stack.stop()

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

/** Runs what `npm run restore:check` runs after a restore. */
async function restoreCheck(env: Record<string, string>, ...flags: string[]) {
  const child = spawn(process.execPath, ['local/deploy/restore-check.ts', ...flags], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  const code = await new Promise((resolve) => child.once('close', resolve))
  return { code, output }
}

async function startTap(charges: { id: string; status: string; transaction: string }[]) {
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { starting_after: after } = JSON.parse(text)
    const from = after ? charges.findIndex(({ id }) => id === after) + 1 : 0
    response.end(JSON.stringify({
      charges: charges.slice(from, from + 1).map(({ id, status, transaction }) => ({
        id,
        status,
        amount: 12.5,
        currency: 'KWD',
        reference: { transaction, order: 'INV-1' },
      })),
      has_more: from + 1 < charges.length,
    }))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

test('MIG-05 a database that was put back is compared with what went on without it', async () => {
  const port = await freePorts()
  const settings = { PORT: String(port), RATES: 'off', HASHING: 'quick', NODE_ENV: 'test' }
  const stack = await startStack(settings)
  const copy = mkdtempSync(join(tmpdir(), 'property-put-back-'))
  const [before, made] = [randomUUID(), randomUUID()]
  const tap = await startTap([
    { id: 'chg_1', status: 'CAPTURED', transaction: before },
    { id: 'chg_2', status: 'DECLINED', transaction: randomUUID() },
    { id: 'chg_3', status: 'CAPTURED', transaction: made },
  ])
  let restored: Awaited<ReturnType<typeof startStack>> | undefined
  const ask = async (method: string, path: string, token?: string, body?: unknown) => {
    const form = body instanceof FormData
    const response = await fetch(`${stack.url}/functions/v1${path}`, {
      method,
      headers: {
        ...(token && (path === '/jobs' ? { apikey: token } : { authorization: `Bearer ${token}` })),
        ...(body !== undefined && !form && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : form ? body : JSON.stringify(body),
    })
    const text = await response.text()
    expect(response.ok, `${method} ${path}: ${text}`).toBe(true)
    return text ? JSON.parse(text) : undefined
  }
  const signUp = async () => {
    const account = { identifier: `${randomUUID()}@example.com`, password: randomUUID() }
    await ask('POST', '/api/auth/register', undefined, account)
    const session = await ask('POST', '/api/auth/login', undefined, account)
    return { ...account, token: session.accessToken as string, id: session.user.id as string }
  }
  try {
    const [seller, leaver] = [await signUp(), await signUp()]
    const listing = await ask('POST', '/api/properties', seller.token, completeFields.SALE)
    const upload = async (size: number) => {
      const form = new FormData()
      form.append('propertyId', listing.id)
      const picture = new Uint8Array(jpeg({ width: size, height: size }))
      form.append('files', new Blob([picture], { type: 'image/jpeg' }), 'a.jpg')
      const { files: [file] } = await ask('POST', '/api/media/upload/listings', seller.token, form)
      return { id: file.mediaId, path: (file.url as string).split('/public/')[1]! }
    }
    const [present, gone] = [await upload(32), await upload(48)]
    const { id: company } = await ask('POST', '/api/auth/identities', seller.token, {
      type: 'company',
      nameAr: 'شركة السور العقارية',
      licenceNo: randomUUID().slice(0, 12),
      licenceExpiresOn: '2040-01-01',
    })
    const papers = new FormData()
    papers.append('identityId', company)
    for (const content of ['kept', 'gone']) papers.append('files', new Blob([pdf(content)]))
    const { files: sent } = await ask('POST', '/api/media/upload/documents', seller.token, papers)
    const stray = `listings/${randomUUID()}/${randomUUID()}.jpg`
    const stored = await fetch(`${stack.url}/storage/v1/object/${stray}`, {
      method: 'POST',
      headers: {
        apikey: stack.secretKey,
        authorization: `Bearer ${stack.secretKey}`,
        'content-type': 'image/jpeg',
      },
      body: new Uint8Array(jpeg({ width: 16, height: 16 })),
    })
    expect(stored.status).toBe(200)
    const known = new pg.Client({ connectionString: stack.databaseUrl })
    await known.connect()
    await known.query(`set edits.by = 'tests'`)
    await ask('POST', '/api/wallet/topup', seller.token, { amount: 10 })
    await known.query(
      `insert into public.payments (id, invoice_id, provider, mode, state, amount, return_url)
       select $1, id, 'tap', 'live', 'failed', 12.5, 'x' from public.invoices limit 1`,
      [before],
    )
    const { rows: [keptPaper, gonePaper] } = await known.query(
      `select 'documents/' || file as path from public.documents order by file`,
    )
    await known.end()
    const since = new Date().toISOString()
    await backUp(stack, copy)

    await ask('DELETE', `/api/properties/${listing.id}/media/${gone.id}`, seller.token)
    const paper = `/api/auth/identities/${company}/documents/${sent[1].documentId}`
    await ask('DELETE', paper, seller.token)
    await ask('POST', '/jobs', stack.secretKey)
    await upload(64)
    await ask('POST', '/api/auth/me/delete', leaver.token, { password: leaver.password })
    const logs = join(copy, 'functions.txt')
    const folder = join(stack.folder, 'logs')
    writeFileSync(
      logs,
      readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')).join('\n'),
    )
    rmSync(join(copy, 'storage'), { recursive: true })
    copyFolder(join(stack.folder, 'storage'), join(copy, 'storage'))
    await stack.stop()
    restored = await startStack({ ...settings, LOCAL_DATA: copy })

    const environment = {
      SUPABASE_URL: restored.url,
      SUPABASE_SECRET_KEY: restored.secretKey,
      DATABASE_URL: restored.databaseUrl,
      TAP_SECRET_KEY: 'sk_live_of_the_drill',
      TAP_URL: tap.url,
    }
    const { code, output } = await restoreCheck(
      environment,
      `--since=${since}`,
      `--logs=${logs}`,
    )
    expect(output).toContain(
      `rows whose file does not answer: 2\n   ${gonePaper.path}\n   ${gone.path}`,
    )
    expect(output).not.toContain(present.path)
    expect(output).not.toContain(keptPaper.path)
    expect(output).toContain(`files without a row: 1\n   ${stray}`)
    expect(output).toContain('payments that only the provider knows: 1\n   chg_3: 12.500 KWD')
    expect(output).toContain(`deletions to repeat: 1\n   ${leaver.id}, asked at`)
    expect(output).toContain("the facade's password: none")
    expect(output).toContain('uploads that are lost with their rows: 1')
    expect(code).toBe(2)

    // The functions have a newer secret than the backup.
    const admin = await adminOf(restored)
    await admin.query(`alter role facade password 'of-an-hour-before'`)
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'facade'`,
    )
    await admin.end()
    await waitUntil('it is told', async () => {
      const { output } = await restoreCheck(environment, `--since=${since}`)
      expect(output).toContain('nobody knows which deletions to repeat')
      return output.includes('the functions do not reach the database')
    })
  } finally {
    await (restored ?? stack).stop()
    tap.server.close()
    rmSync(copy, { recursive: true, force: true })
  }
})
