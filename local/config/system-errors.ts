// Turns errors of the operating system, such as a full disk or a folder of another user, into advice. The
// data is intact in these cases, so the advice must never be to delete it.
import { statfsSync, statSync } from 'node:fs'
import { UserError } from './user-error.ts'

const full = /No space left|no space left|ENOSPC|Disk quota exceeded|disk quota exceeded|EDQUOT/
// "permission denied for table" must not match: that is an error of Postgres, not of the operating system.
const denied =
  /EACCES|EPERM|EROFS|Permission denied|: permission denied$|Operation not permitted|Read-only file system|wrong ownership|invalid permissions/m

const makeRoom = 'The disk is full: make room and start again. What was stored is kept.'
const askTheOwner =
  'Permissions are the cause, the data are kept: start as the user to whom the folder and all in it ' +
  'belong, make it that again, or choose another with LOCAL_DATA=<folder>.'

/** The free space that Postgres needs, in bytes: a 16 MiB file of the write-ahead log, and as much again. */
const leastRoom = 32 * 1024 * 1024

/** Whether the disk is full. On a full disk anything can fail, with any error message. */
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

/** Returns the message to show instead of a stack trace, or undefined if the error is a bug. */
export function sentenceOf(error: unknown, folder?: string): string | undefined {
  if (error instanceof UserError) return error.message
  const { code, syscall, path, message } = error as NodeJS.ErrnoException
  if (syscall === 'mkdir' && (code === 'EEXIST' || code === 'ENOTDIR')) {
    return `${path} cannot be a folder, something else is there: choose one with LOCAL_DATA=<folder>.`
  }
  const advice = adviceOn(`${code} ${message}`, folder)
  return advice && `${message}. ${advice}`
}

/** Whether the path exists. If this process may not look it up, this throws instead of returning false. */
export const isThere = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false }) !== undefined
