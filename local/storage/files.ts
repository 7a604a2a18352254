// Stores the files of objects on disk. A file is named after the object's version and never changes. It is
// written under a temporary name and renamed before a row may refer to it, so a row always has its complete
// file, even after a crash. A file without a row is removed at a later start if it is at least ten minutes
// old.
import { createHash } from 'node:crypto'
import { createReadStream, linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { tooLarge } from './errors.ts'

export type Stored = { version: string; size: number; etag: string }
export type Files = ReturnType<typeof openFiles>

const minPurgeAge = 10 * 60_000

export function openFiles(dataDir: string) {
  const root = join(dataDir, 'storage')
  const incoming = join(root, 'incoming')
  const ready = mkdir(incoming, { recursive: true })
  const pathOf = (version: string) => join(root, version.slice(0, 2), version)

  async function store(content: AsyncIterable<Uint8Array>, limit: number): Promise<Stored> {
    await ready
    const version = crypto.randomUUID()
    const temporary = join(incoming, version)
    const file = await open(temporary, 'wx')
    const hash = createHash('md5')
    let size = 0
    try {
      for await (const piece of content) {
        size += piece.length
        if (size > limit) throw tooLarge()
        hash.update(piece)
        await file.write(piece)
      }
      await file.datasync()
      await file.close()
      await mkdir(join(root, version.slice(0, 2)), { recursive: true })
      await rename(temporary, pathOf(version))
    } catch (error) {
      await file.close().catch(() => {})
      await rm(temporary, { force: true })
      throw error
    }
    return { version, size, etag: `"${hash.digest('hex')}"` }
  }

  const written = new Map<Buffer, string>()

  /** Stores a file of the demo data. There are thousands, so it does not fsync; a crash may lose files. */
  function put(content: Buffer): Stored {
    const version = crypto.randomUUID()
    mkdirSync(join(root, version.slice(0, 2)), { recursive: true })
    // Files never change, so objects with the same content may share a file.
    const same = written.get(content)
    if (same) linkSync(pathOf(same), pathOf(version))
    else writeFileSync(pathOf(version), content)
    written.set(content, version)
    const hash = createHash('md5').update(content).digest('hex')
    return { version, size: content.length, etag: `"${hash}"` }
  }

  const remove = (versions: string[]) =>
    Promise.all(versions.map((version) => rm(pathOf(version), { force: true }))).then(() => {})

  async function purge(pool: pg.Pool): Promise<void> {
    await ready
    const before = Date.now() - minPurgeAge
    for (const name of await readdir(incoming)) {
      const path = join(incoming, name)
      if ((await stat(path)).mtimeMs < before) await rm(path, { force: true })
    }
    for (const folder of await readdir(root)) {
      if (!/^[0-9a-f]{2}$/.test(folder)) continue
      const names = await readdir(join(root, folder))
      const { rows } = await pool.query<{ version: string }>(
        `select version from unnest($1::text[]) as version
        where version not in (
          select objects.version from storage.objects where objects.version = any ($1)
        )`,
        [names],
      )
      for (const { version } of rows) {
        if ((await stat(pathOf(version))).mtimeMs < before) await remove([version])
      }
    }
  }

  return {
    store,
    put,
    remove,
    purge,
    read: (version: string, range?: { start: number; end: number }) =>
      createReadStream(pathOf(version), range),
    copy: (version: string) => store(createReadStream(pathOf(version)), Infinity),
  }
}
