// The local project's signing keys (ES256). They have the same states as the keys of a hosted project. The
// file is read again when it changes, so a test can rotate keys while the stack runs.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errors, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify, SignJWT } from 'jose'
import { isThere } from './system-errors.ts'
import { UserError } from './user-error.ts'

type KeyState = 'standby' | 'current' | 'previous' | 'revoked'
export type StoredKey = { state: KeyState; jwk: JWK & { kid: string } }
export type Claims = Record<string, unknown> & { sub?: string; role?: string; session_id?: string }

const fileOf = (dataDir: string) => join(dataDir, 'signing-keys.json')

export async function ensureKeys(dataDir: string): Promise<void> {
  if (!isThere(fileOf(dataDir))) await addKey(dataDir, 'current')
}

export function storedKeys(dataDir: string): StoredKey[] {
  const path = fileOf(dataDir)
  if (!isThere(path)) return []
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text)
  } catch {
    throw new UserError(
      `The data folder is damaged: ${path} cannot be read. Delete that file to get new keys; ` +
        'everybody will then have to sign in again.',
    )
  }
}

/** Adds a key and returns its kid. A standby key is already published but does not sign yet. */
export async function addKey(dataDir: string, state: KeyState = 'standby'): Promise<string> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const kid = crypto.randomUUID()
  const jwk = { ...await exportJWK(privateKey), kid, alg: 'ES256', use: 'sig' }
  save(dataDir, [...storedKeys(dataDir), { state, jwk }])
  return kid
}

/** Makes a key the signing key. The former signing key stays valid, in the state `previous`. */
export function makeCurrent(dataDir: string, kid: string): void {
  save(
    dataDir,
    storedKeys(dataDir).map((key) => {
      if (key.jwk.kid === kid) return { ...key, state: 'current' }
      return key.state === 'current' ? { ...key, state: 'previous' } : key
    }),
  )
}

/** Revokes a key: it is no longer published, and tokens signed with it are rejected. */
export function revokeKey(dataDir: string, kid: string): void {
  save(
    dataDir,
    storedKeys(dataDir).map((key) => key.jwk.kid === kid ? { ...key, state: 'revoked' } : key),
  )
}

function save(dataDir: string, keys: StoredKey[]) {
  const path = fileOf(dataDir)
  writeFileSync(`${path}.new`, JSON.stringify(keys, null, 2), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

export function publicKeys(keys: StoredKey[]): { keys: JWK[] } {
  return {
    keys: keys.filter((key) => key.state !== 'revoked').map(({ jwk: { d: _private, ...jwk } }) => ({
      ...jwk,
      key_ops: ['verify'],
      ext: true,
    })),
  }
}

export type KeyRing = ReturnType<typeof openKeys>

export function openKeys(dataDir: string, issuer: string) {
  const path = fileOf(dataDir)
  let changed = -1
  let looked = 0
  let keys: StoredKey[] = []
  let imported = new Map<string, ReturnType<typeof importJWK>>()
  const read = () => {
    // The modification time is checked at most every 100 ms, which saves a system call per request.
    if (Date.now() - looked < 100) return keys
    looked = Date.now()
    const { mtimeMs } = statSync(path)
    if (mtimeMs === changed) return keys
    changed = mtimeMs
    keys = storedKeys(dataDir)
    imported = new Map()
    return keys
  }
  const load = (key: StoredKey, use: 'sign' | 'verify') => {
    const name = `${use} ${key.jwk.kid}`
    const { d, ...open } = key.jwk
    const made = imported.get(name) ?? importJWK(use === 'sign' ? { ...open, d } : open, 'ES256')
    imported.set(name, made)
    return made
  }
  return {
    jwks: () => publicKeys(read()),
    sign: async (claims: Claims): Promise<string> => {
      const key = read().find(({ state }) => state === 'current')
      if (!key) throw new Error('no signing key is current')
      return await new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', kid: key.jwk.kid, typ: 'JWT' })
        .sign(await load(key, 'sign'))
    },
    /** Verifies a token of this project and returns its claims. Accepts no algorithm but ES256. */
    verify: async (token: string): Promise<Claims> => {
      const find = ({ kid }: { kid?: string }) => {
        const key = read().find((each) => each.jwk.kid === kid && each.state !== 'revoked')
        if (!key) throw new errors.JWKSNoMatchingKey()
        return load(key, 'verify')
      }
      const { payload } = await jwtVerify(token, find, {
        algorithms: ['ES256'],
        issuer,
        audience: 'authenticated',
        requiredClaims: ['exp', 'sub', 'role'],
      })
      // JSON.parse turns a number such as 1e999 into Infinity, and such a token would never expire.
      if (!Number.isFinite(payload.exp)) throw new Error('exp is not a time')
      return payload
    },
  }
}
