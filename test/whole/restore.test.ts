// A stack is backed up while in use, lost, and restored as the docs describe. (A hosted project is restored
// from the platform's backups.)
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { invariants } from './invariant-checks.ts'
import { patience } from '../suite/slowness.ts'
import { adminOf, backUp, copyFolder } from '../support/backup.ts'
import { completeFields } from '../support/listings.ts'
import { pdf } from '../support/pdf.ts'
import { jpeg } from '../support/pictures.ts'
import { freeStackPort, type Stack, startStack } from '../support/stack.ts'
import { waitUntil } from '../support/wait.ts'

/** Runs the same check as `npm run restore:check` after a restore. */
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

type Person = { identifier: string; password: string; token: string; id: string }

describe('MIG-05 a stack that is backed up under load, used, lost and restored', {
  shuffle: false,
}, () => {
  let stack: Stack
  let restored: Stack | undefined
  /** `later` is a copy of the files and logs at the moment when the stack was lost. */
  const [copy, later] = ['backup', 'later'].map((name) =>
    mkdtempSync(join(tmpdir(), `property-restore-${name}-`))
  ) as [string, string]
  const logs = join(later, 'functions.txt')
  let since: string

  const there = () => restored ?? stack
  async function respond(method: string, path: string, token?: string, body?: unknown) {
    const form = body instanceof FormData
    const address = path.startsWith('http') ? path : `${there().url}/functions/v1${path}`
    const response = await fetch(address, {
      method,
      headers: {
        ...(token && (path === '/jobs' ? { apikey: token } : { authorization: `Bearer ${token}` })),
        ...(body !== undefined && !form && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : form ? body : JSON.stringify(body),
    })
    return { status: response.status, text: await response.text() }
  }
  const ask = async (method: string, path: string, token?: string, body?: unknown) => {
    const { status, text } = await respond(method, path, token, body)
    expect(status, `${method} ${path}: ${text}`).toBeLessThan(300)
    return text ? JSON.parse(text) : undefined
  }
  const signUp = async (): Promise<Person> => {
    const account = { identifier: `${randomUUID()}@example.com`, password: randomUUID() }
    await ask('POST', '/api/auth/register', undefined, account)
    const session = await ask('POST', '/api/auth/login', undefined, account)
    return { ...account, token: session.accessToken, id: session.user.id }
  }
  const offer = async ({ token }: Person): Promise<string> =>
    (await ask('POST', '/api/properties', token, {
      ...completeFields.SALE,
      titleAr: `بيت ${randomUUID()}`,
      publish: true,
    })).id
  const upload = async ({ token }: Person, propertyId: string, size: number) => {
    const form = new FormData()
    form.append('propertyId', propertyId)
    const picture = new Uint8Array(jpeg({ width: size, height: size }))
    form.append('files', new Blob([picture], { type: 'image/jpeg' }), 'a.jpg')
    const { files: [file] } = await ask('POST', '/api/media/upload/listings', token, form)
    return { id: file.mediaId, url: file.url, path: (file.url as string).split('/public/')[1]! }
  }
  const query = async (sql: string, values?: unknown[]) => {
    const client = new pg.Client({ connectionString: there().databaseUrl })
    await client.connect()
    return (await client.query(sql, values).finally(() => client.end())).rows
  }

  const reads: [string, Person?][] = []
  const answers = async () => {
    const given = []
    for (const [path, person] of reads) {
      given.push([path, await respond('GET', path, person?.token)])
    }
    return given
  }
  let before: unknown
  let present: Awaited<ReturnType<typeof upload>>
  let gone: Awaited<ReturnType<typeof upload>>
  let restoredPaper: { path: string }
  let gonePaper: { path: string }
  let leaver: Person

  beforeAll(async () => {
    const port = String(await freeStackPort())
    const settings = {
      PORT: port,
      RATES: 'off',
      HASHING: 'quick',
      PATIENCE: patience,
      NODE_ENV: 'test',
    }
    stack = await startStack(settings)
    const [seller, buyer] = [await signUp(), await signUp()]
    const propertyId = await offer(seller)
    const { url } = await upload(seller, propertyId, 32)
    await ask('POST', `/api/favorites/${propertyId}`, buyer.token, {})
    const message = { propertyId, message: 'هل العقار متاح؟' }
    const { id } = await ask('POST', '/api/conversations', buyer.token, message)
    await ask('POST', '/api/wallet/topup', buyer.token, { amount: 10 })
    const own = ['auth/me', 'properties/mine', 'favorites', 'conversations', 'wallet', 'invoices']
    for (const person of [seller, buyer]) {
      for (const path of own) reads.push([`/api/${path}`, person])
    }
    reads.push([`/api/conversations/${id}/messages`, seller], [`/api/properties/${propertyId}`])
    reads.push([url])

    // Some of these are deleted after the backup.
    leaver = await signUp()
    const { token } = seller
    const listing = await offer(seller)
    present = await upload(seller, listing, 32)
    gone = await upload(seller, listing, 48)
    const { id: company } = await ask('POST', '/api/auth/identities', token, {
      type: 'company',
      nameAr: 'شركة السور العقارية',
      licenceNo: randomUUID().slice(0, 12),
      licenceExpiresOn: '2040-01-01',
    })
    const papers = new FormData()
    papers.append('identityId', company)
    for (const content of ['kept', 'gone']) papers.append('files', new Blob([pdf(content)]))
    const { files: sent } = await ask('POST', '/api/media/upload/documents', token, papers)
    ;[restoredPaper, gonePaper] = await query(
      `select 'documents/' || file as path from public.documents order by file`,
    ) as [{ path: string }, { path: string }]

    before = await answers()
    since = new Date().toISOString()
    let working = true
    const work = (async () => {
      while (working) await offer(await signUp())
    })()
    await backUp(stack, copy)
    working = false
    await work

    await ask('DELETE', `/api/properties/${listing}/media/${gone.id}`, token)
    await ask('DELETE', `/api/auth/identities/${company}/documents/${sent[1].documentId}`, token)
    await ask('POST', '/jobs', stack.secretKey)
    await upload(seller, listing, 64)
    await ask('POST', '/api/auth/me/delete', leaver.token, { password: leaver.password })
    const folder = join(stack.folder, 'logs')
    writeFileSync(
      logs,
      readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')).join('\n'),
    )
    copyFolder(join(stack.folder, 'storage'), join(later, 'storage'))
    await stack.stop()
    restored = await startStack({ ...settings, LOCAL_DATA: copy })
  })

  afterAll(async () => {
    await there()?.stop()
    for (const folder of [copy, later]) rmSync(folder, { recursive: true, force: true })
  })

  test('MIG-05 it gives the same answers, pictures included', async () => {
    expect(await answers()).toEqual(before)
    for (const { id, says, sql } of invariants) {
      expect.soft(await query(sql), `${id} ${says}`).toEqual([])
    }
  })

  test('MIG-05 it is compared with what went on without its database', async () => {
    const { url, secretKey, databaseUrl } = restored!
    rmSync(join(copy, 'storage'), { recursive: true })
    copyFolder(join(later, 'storage'), join(copy, 'storage'))
    const stray = `listings/${randomUUID()}/${randomUUID()}.jpg`
    const stored = await fetch(`${url}/storage/v1/object/${stray}`, {
      method: 'POST',
      headers: {
        apikey: secretKey,
        authorization: `Bearer ${secretKey}`,
        'content-type': 'image/jpeg',
      },
      body: new Uint8Array(jpeg({ width: 16, height: 16 })),
    })
    expect(stored.status).toBe(200)
    const [known, made] = [randomUUID(), randomUUID()]
    const tap = await startTap([
      { id: 'chg_1', status: 'CAPTURED', transaction: known },
      { id: 'chg_2', status: 'DECLINED', transaction: randomUUID() },
      { id: 'chg_3', status: 'CAPTURED', transaction: made },
    ])
    try {
      await query(
        `set edits.by = 'tests';
         insert into public.payments (id, invoice_id, provider, mode, state, amount, return_url)
         select '${known}', id, 'tap', 'live', 'failed', 12.5, 'x' from public.invoices limit 1`,
      )
      const environment = {
        SUPABASE_URL: url,
        SUPABASE_SECRET_KEY: secretKey,
        DATABASE_URL: databaseUrl,
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
      expect(output).not.toContain(restoredPaper.path)
      expect(output).toContain(`files without a row: 1\n   ${stray}`)
      expect(output).toContain('payments that only the provider knows: 1\n   chg_3: 12.500 KWD')
      expect(output).toContain(`deletions to repeat: 1\n   ${leaver.id}, asked at`)
      expect(output).toContain("the facade's password: none")
      expect(output).toContain('uploads that are lost with their rows: 1')
      expect(code).toBe(2)

      // The functions' database password is newer than the password in the backup.
      const admin = await adminOf(restored!)
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
      tap.server.close()
    }
  })
})
