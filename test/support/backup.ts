// Backs up a stack's database while it is in use, into a copy of its folder.
import { execFileSync } from 'node:child_process'
import { chownSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { passwordOf, secretsOf } from '../../local/config/secrets.ts'
import type { Stack } from './stack.ts'

// A file may disappear during the copy: the write-ahead log contains its changes.
export const copyFolder = (from: string, to: string) =>
  execFileSync('sh', [
    '-c',
    'mkdir -p "$2"; cp -a "$1/." "$2/" 2>/dev/null || true',
    'sh',
    from,
    to,
  ])

export async function adminOf(stack: Stack): Promise<pg.Client> {
  const admin = new pg.Client({
    connectionString: stack.databaseUrl.replace(
      /postgres:[^@]+@/,
      `supabase_admin:${passwordOf(secretsOf(stack.folder), 'supabase_admin')}@`,
    ),
  })
  await admin.connect()
  return admin
}

export async function backUp(stack: Stack, copy: string): Promise<void> {
  const admin = await adminOf(stack)
  await admin.query(`select pg_backup_start('drill', true)`)
  copyFolder(stack.folder, copy)
  const { rows } = await admin.query('select labelfile from pg_backup_stop(false)')
  const log = join('postgres', 'pg_wal')
  copyFolder(join(stack.folder, log), join(copy, log))
  await admin.end()
  const label = join(copy, 'postgres', 'backup_label')
  writeFileSync(label, rows[0].labelfile)
  // The server may run as another user, who must also own the label file.
  const { uid, gid } = statSync(join(copy, 'postgres', 'PG_VERSION'))
  chownSync(label, uid, gid)
  for (const name of ['supervisor.lock', 'stack.json', 'postgres/postmaster.pid']) {
    rmSync(join(copy, name), { force: true })
  }
}
