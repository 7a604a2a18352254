// Turns refusals of the operating system, such as a full disk or another user's folder, into advice. The
// data is intact in such a case, so the advice never deletes any.
import { statfsSync, statSync } from 'node:fs'
import { UserError } from './user-error.ts'

const full = /No space left|no space left|ENOSPC|Disk quota exceeded|disk quota exceeded|EDQUOT/
// "permission denied for table" is about rights in the database.
const denied =
  /EACCES|EPERM|EROFS|Permission denied|: permission denied$|Operation not permitted|Read-only file system|wrong ownership|invalid permissions/m

const makeRoom = 'The disk is full: make room and start again. What was stored is kept.'
const askTheOwner =
  'Permissions are the cause, the data are kept: start as the user to whom the folder and all in it ' +
  'belong, make it that again, or choose another with LOCAL_DATA=<folder>.'

/** The space that Postgres needs at once, for a log file and a little more. */
const leastRoom = 32 * 1024 * 1024

/** On a full disk anything may fail, with any message. */
function isFull(folder: string): boolean {
  if (!isThere(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize < leastRoom
}

export function adviceOn(said: string, folder?: string): string | undefined {
  if (full.test(said)) return makeRoom
  if (denied.test(said)) return askTheOwner
  return folder && isFull(folder) ? makeRoom : undefined
}

/** The sentence to show instead of a stack trace; undefined for our own faults. */
export function sentenceOf(error: unknown, folder?: string): string | undefined {
  if (error instanceof UserError) return error.message
  const { code, syscall, path, message } = error as NodeJS.ErrnoException
  if (syscall === 'mkdir' && (code === 'EEXIST' || code === 'ENOTDIR')) {
    return `${path} cannot be a folder, something else is there: choose one with LOCAL_DATA=<folder>.`
  }
  const advice = adviceOn(`${code} ${message}`, folder)
  return advice && `${message}. ${advice}`
}

/** Throws, rather than returning false, if the path may not be read. */
export const isThere = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false }) !== undefined
