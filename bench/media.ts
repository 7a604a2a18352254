/**
 * Uploads end to end against writing the same bytes to disk in the same run, and how much memory the
 * functions take for 20 at a time.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stack } from '../test/stack.ts'
import { png } from '../test/pictures.ts'

const bytesOfPicture = 4 * 1024 * 1024
const rounds = 40

export type MediaFigures = {
  diskMs: number
  uploadMs: number
  p95Ms: number
  times: number
  megabytesAtATime: { functions: number; services: number }
  perSecond: number
}

const median = (times: number[], at = 0.5) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * at)]!

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** Writes and syncs as a program does that wants the bytes to stay. */
async function toDisk(folder: string, bytes: Buffer) {
  const file = await open(join(folder, randomUUID()), 'wx')
  await file.write(bytes)
  await file.datasync()
  await file.close()
}

async function person({ baseUrl }: Stack): Promise<string> {
  const identifier = `${randomUUID()}@example.com`
  const password = randomUUID()
  const post = async (path: string, body: unknown) => {
    const response = await fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return await response.json()
  }
  await post('/auth/register', { identifier, password })
  return (await post('/auth/login', { identifier, password })).accessToken
}

/** Memory of a part of the stack in MB, pages that it shares with others left out of account. */
function megabytes({ folder }: Stack, part: string): number {
  const { pid } = JSON.parse(readFileSync(join(folder, 'supervisor.lock'), 'utf8'))
  const lines = execFileSync('ps', ['-A', '-o', 'ppid=,rss=,args=']).toString().split('\n')
  for (const line of lines) {
    const [, parent, size, command] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? []
    if (Number(parent) === pid && command!.includes(part)) return Math.round(Number(size) / 1024)
  }
  throw new Error(`the stack has no ${part}`)
}

/** A picture of that size whose pixels cannot be made smaller. */
export function largePicture(): Buffer {
  const width = 1180
  const height = Math.floor(bytesOfPicture / (width * 3))
  return png({ width, height, pixels: randomBytes(width * height * 3), level: 0 })
}

export async function benchMedia(stack: Stack, say: (line: string) => void): Promise<MediaFigures> {
  const picture = largePicture()
  const tokens = await Promise.all(Array.from({ length: 20 }, () => person(stack)))
  const upload = async (token: string) => {
    const form = new FormData()
    form.append('files', new Blob([new Uint8Array(picture)]), 'a.png')
    const response = await fetch(`${stack.baseUrl}/media/upload/listings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    })
    const body = await response.json()
    if (response.status !== 201) throw new Error(JSON.stringify(body))
  }
  const folder = mkdtempSync(join(tmpdir(), 'media-bench-'))
  try {
    for (let round = 0; round < 5; round++) await upload(tokens[0]!)
    say(`${(picture.length / 1e6).toFixed(1)} MB, to disk and uploaded in turn, ${rounds} times`)
    const disk: number[] = []
    const uploads: number[] = []
    for (let round = 0; round < rounds; round++) {
      disk.push(await timed(() => toDisk(folder, picture)))
      uploads.push(await timed(() => upload(tokens[round % tokens.length]!)))
    }
    say('20 at a time')
    return {
      diskMs: median(disk),
      uploadMs: median(uploads),
      p95Ms: median(uploads, 0.95),
      times: Math.round((median(uploads) / median(disk)) * 10) / 10,
      ...await manyAtOnce(stack, tokens, upload),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function manyAtOnce(
  stack: Stack,
  tokens: string[],
  upload: (token: string) => Promise<void>,
) {
  await sleep(3000)
  const parts = { functions: 'functions.ts', services: 'services.ts' }
  const before = {
    functions: megabytes(stack, parts.functions),
    services: megabytes(stack, parts.services),
  }
  const most = { ...before }
  const watch = setInterval(() => {
    for (const part of ['functions', 'services'] as const) {
      most[part] = Math.max(most[part], megabytes(stack, parts[part]))
    }
  }, 50)
  const each = 4
  const took = await timed(() =>
    Promise.all(tokens.map(async (token) => {
      for (let turn = 0; turn < each; turn++) await upload(token)
    }))
  )
  clearInterval(watch)
  return {
    megabytesAtATime: {
      functions: most.functions - before.functions,
      services: most.services - before.services,
    },
    perSecond: Math.round((tokens.length * each * 1000) / took),
  }
}

export const mediaTable = (figures: MediaFigures) => [
  ['', 'disk', 'upload', 'p95', 'times'],
  [
    '4 MB picture',
    `${figures.diskMs.toFixed(1)} ms`,
    `${figures.uploadMs.toFixed(1)} ms`,
    `${figures.p95Ms.toFixed(1)} ms`,
    String(figures.times),
  ],
]
