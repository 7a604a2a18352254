// What the system refuses to a program here, as a person can act on it: a full disk, a folder of another
// user. Nothing is wrong with the data then, so the advice never deletes any.
import { statfsSync, statSync } from 'node:fs'
import { UserError } from './user-error.ts'

const full = /No space left|no space left|ENOSPC|Disk quota exceeded|disk quota exceeded|EDQUOT/
// Postgres says "permission denied for table", of rights in the database.
const denied =
  /EACCES|EPERM|EROFS|Permission denied|: permission denied$|Operation not permitted|Read-only file system|wrong ownership|invalid permissions/m

const makeRoom = 'The disk is full: make room and start again. What was stored is kept.'
const askTheOwner =
  'Permissions are the cause, the data are kept: start as the user to whom the folder and all in it ' +
  'belong, make it that again, or choose another with LOCAL_DATA=<folder>.'

/** So much is what Postgres takes at once, a file of its log, and a little more. */
const leastRoom = 32 * 1024 * 1024

/** Who has no room may fail in any way, and say anything. */
function isFull(folder: string): boolean {
  if (!isThere(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < leastRoom
}

/** Advice where the system refused something, by what a program said that works in that folder. */
export function adviceOn(said: string, folder?: string): string | undefined {
  if (full.test(said)) return makeRoom
  if (denied.test(said)) return askTheOwner
  return folder && isFull(folder) ? makeRoom : undefined
}

/** What to tell a person of an error, in place of its stack trace; of a fault of ours nothing. */
export function sentenceOf(error: unknown, folder?: string): string | undefined {
  if (error instanceof UserError) return error.message
  const { code, syscall, path, message } = error as NodeJS.ErrnoException
  if (syscall === 'mkdir' && (code === 'EEXIST' || code === 'ENOTDIR')) {
    return `${path} cannot be a folder, something else is there: choose one with LOCAL_DATA=<folder>.`
  }
  const advice = adviceOn(`${code} ${message}`, folder)
  return advice && `${message}. ${advice}`
}

/** Whether there is something; it is an error, and no "no", where one may not look. */
export const isThere = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false }) !== undefined
