// A simulated WebAuthn authenticator with its browser. Tests can falsify each part of the data that it signs.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { caller, type Person, type Reply } from './client.ts'

export const page = 'http://localhost:5199'

type Cbor = number | string | Buffer | [Cbor, Cbor][]

function cbor(value: Cbor): Buffer {
  const head = (major: number, length: number) =>
    length < 24
      ? Buffer.from([major << 5 | length])
      : length < 256
      ? Buffer.from([major << 5 | 24, length])
      : Buffer.from([major << 5 | 25, length >> 8, length & 255])
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value)
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value])
  if (typeof value === 'string') {
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  }
  const entries = value.flatMap(([key, one]) => [cbor(key), cbor(one)])
  return Buffer.concat([head(5, value.length), ...entries])
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

const keys = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: () => generateKeyPairSync('ed25519'),
}

function coseOf(key: KeyObject): Buffer {
  const { kty, x, y, n, e } = key.export({ format: 'jwk' })
  const bytes = (text?: string) => Buffer.from(text!, 'base64url')
  return cbor(
    kty === 'EC'
      ? [[1, 2], [3, -7], [-1, 1], [-2, bytes(x)], [-3, bytes(y)]]
      : kty === 'RSA'
      ? [[1, 3], [3, -257], [-1, bytes(n)], [-2, bytes(e)]]
      : [[1, 1], [3, -8], [-1, 6], [-2, bytes(x)]],
  )
}

const [present, verified, synced, attested] = [0x01, 0x04, 0x18, 0x40]

/** Wrong values to sign instead of the right ones. */
export type Lie = {
  origin?: string
  challenge?: string
  rpId?: string
  type?: string
  flags?: number
  counter?: number
  format?: string
  clientData?: object
  signedBy?: Passkey
  id?: string
}

type Options = { challenge: string; rpId?: string; rp?: { id: string } }

/** A passkey that is synced between devices does not count its signatures. */
export type Made = { alg?: keyof typeof keys; isSynced?: boolean; transports?: string[] }

export class Passkey {
  id = randomBytes(32).toString('base64url')
  counter = 0
  private readonly made: Made
  private readonly pair: { publicKey: KeyObject; privateKey: KeyObject }

  constructor(made: Made = {}) {
    this.made = made
    this.pair = keys[made.alg ?? 'ES256']()
  }

  private clientData(type: string, { challenge }: Options, lie: Lie): Buffer {
    return Buffer.from(JSON.stringify({
      type: lie.type ?? type,
      challenge: lie.challenge ?? challenge,
      origin: lie.origin ?? page,
      crossOrigin: false,
      ...lie.clientData,
    }))
  }

  private authData({ rpId, rp }: Options, lie: Lie, more = Buffer.alloc(0)): Buffer {
    const counter = Buffer.alloc(4)
    if (!this.made.isSynced) this.counter++
    counter.writeUInt32BE(lie.counter ?? this.counter)
    const flags = (lie.flags ?? present | verified) | (this.made.isSynced ? synced : 0) |
      (more.length ? attested : 0)
    return Buffer.concat([sha256(lie.rpId ?? rpId ?? rp!.id), Buffer.from([flags]), counter, more])
  }

  create(options: Options, lie: Lie = {}) {
    const id = Buffer.from(this.id, 'base64url')
    const length = Buffer.from([id.length >> 8, id.length & 255])
    const key = Buffer.concat([Buffer.alloc(16), length, id, coseOf(this.pair.publicKey)])
    const attestation = cbor([
      ['fmt', lie.format ?? 'none'],
      ['attStmt', []],
      ['authData', this.authData(options, lie, key)],
    ])
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: { credProps: { rk: true } },
      response: {
        clientDataJSON: this.clientData('webauthn.create', options, lie).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: this.made.transports ?? ['internal', 'hybrid'],
        publicKeyAlgorithm: -7,
      },
    }
  }

  get(options: Options, lie: Lie = {}) {
    const clientData = this.clientData('webauthn.get', options, lie)
    const authData = this.authData(options, lie)
    const { privateKey } = (lie.signedBy ?? this).pair
    const signature = sign('sha256', Buffer.concat([authData, sha256(clientData)]), privateKey)
    return {
      id: lie.id ?? this.id,
      rawId: this.id,
      type: 'public-key',
      authenticatorAttachment: 'platform',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
        userHandle: randomBytes(16).toString('base64url'),
      },
    }
  }
}

/** An administrator's browser, with or without a proof of re-authentication (X-Proof). */
export const browser = ({ accessToken }: Pick<Person, 'accessToken'>, proof?: string) =>
  caller(accessToken, { origin: page, ...(proof !== undefined && { 'x-proof': proof }) })

export const byPassword = async (admin: Person): Promise<string> =>
  (await browser(admin).post('/auth/sudo', { currentPassword: admin.password })).body.proof

export async function addPasskey(
  admin: Person,
  passkey: Passkey,
  proof: string,
  { lie, name }: { lie?: Lie; name?: string } = {},
): Promise<Reply> {
  const by = browser(admin, proof)
  const { body } = await by.post('/auth/passkeys/options')
  return await by.post('/auth/passkeys', { attestation: passkey.create(body, lie), name })
}

export async function proveBy(admin: Person, passkey: Passkey, lie?: Lie): Promise<Reply> {
  const by = browser(admin)
  const { body } = await by.post('/auth/sudo/options')
  return await by.post('/auth/sudo', { assertion: passkey.get(body, lie) })
}
