// These files contain the version of the project (docs/releases.md).
export const versionFile = 'functions/_shared/errors/log.ts'

export const versionFiles = [
  'package.json',
  'package-lock.json',
  'client/package.json',
  'docs/apps.md',
  versionFile,
]

/** Returns the part of a file that concerns the project itself; in the lock file, the packages follow it. */
export const ownVersionIn = (file: string, text: string) =>
  file === 'package-lock.json' ? text.slice(0, text.indexOf('"dependencies"')) : text
