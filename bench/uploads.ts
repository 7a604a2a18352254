/**
 * Compares complete uploads with writing the same bytes to disk in the same run. Also measures the memory
 * that 20 concurrent uploads need, and the cost of the worst files.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { png } from '../test/support/pictures.ts'
import type { Stack } from '../test/support/stack.ts'
import { signUp } from './client.ts'
import { percentile } from './http-load.ts'
import { processOf } from './processes.ts'
import { type HostileFigures, measureHostilePictures } from './hostile-pictures.ts'

const bytesOfPicture = 4 * 1024 * 1024
const rounds = 40

type UploadFigures = {
  diskMs: number
  uploadMs: number
  p95Ms: number
  times: number
  megabytesAtATime: Memory
  perSecond: number
  worst: HostileFigures
}

const part = (times: number[], share: number) => percentile(times.toSorted((a, b) => a - b), share)

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

async function toDisk(folder: string, bytes: Buffer) {
  const file = await open(join(folder, randomUUID()), 'wx')
  await file.write(bytes)
  await file.datasync()
  await file.close()
}

type Memory = { functions: number; services: number }

const processes = (stack: Stack) => ({
  functions: processOf(stack, '"name":"api"'),
  services: processOf(stack, 'services.ts'),
})

function memory(stack: Stack): Memory {
  const { functions, services } = processes(stack)
  return { functions: functions.megabytes, services: services.megabytes }
}

/** Makes an incompressible picture of `bytesOfPicture`. */
function largePicture(): Buffer {
  const width = 1180
  const height = Math.floor(bytesOfPicture / (width * 3))
  return png({ width, height, pixels: randomBytes(width * height * 3), level: 0 })
}

export async function benchUploads(
  stack: Stack,
  say: (line: string) => void,
): Promise<UploadFigures> {
  const picture = largePicture()
  const tokens: string[] = []
  while (tokens.length < 20) tokens.push((await signUp(stack)).accessToken)
  const send = async (token: string, ...pictures: Buffer[]) => {
    const form = new FormData()
    for (const picture of pictures) {
      form.append('files', new Blob([new Uint8Array(picture)]), 'a.png')
    }
    const response = await fetch(`${stack.baseUrl}/media/upload/listings`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
    })
    return { status: response.status, body: await response.json() }
  }
  const upload = async (token: string) => {
    const { status, body } = await send(token, picture)
    if (status !== 201) throw new Error(JSON.stringify(body))
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
    say('the worst files of 10 MiB, each alone')
    const { functions } = processes(stack)
    let turn = 0
    const worst = await measureHostilePictures(
      functions.pid,
      // Each upload uses a different account, because the number of pictures per account is limited.
      async (...files) => (await send(tokens[turn++ % tokens.length]!, ...files)).status,
    )
    say('20 at a time')
    return {
      worst,
      diskMs: part(disk, 0.5),
      uploadMs: part(uploads, 0.5),
      p95Ms: part(uploads, 0.95),
      times: Math.round((part(uploads, 0.5) / part(disk, 0.5)) * 10) / 10,
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
  const before = memory(stack)
  const most = { ...before }
  const check = () => {
    const now = memory(stack)
    most.functions = Math.max(most.functions, now.functions)
    most.services = Math.max(most.services, now.services)
  }
  const watch = setInterval(() => void check(), 200)
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

export const uploadsTable = (figures: UploadFigures) => [
  ['', 'disk', 'upload', 'p95', 'times'],
  [
    '4 MB picture',
    `${figures.diskMs.toFixed(1)} ms`,
    `${figures.uploadMs.toFixed(1)} ms`,
    `${figures.p95Ms.toFixed(1)} ms`,
    String(figures.times),
  ],
]
