// Creates certificate authorities and certificates for one test, with only the fields that Node requires.
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIP } from 'node:net'

type Authority = { pem: string; name: string; key: KeyObject; keyId: Buffer }
export type Certificate = { cert: string; key: string }

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  // DER requires the shortest form.
  const size = length < 128
    ? [length]
    : length < 256
    ? [0x81, length]
    : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const text = (tag: number, value: string) => der(tag, Buffer.from(value))
const time = (at: Date) => text(0x17, at.toISOString().replace(/[-:T]|\.\d+/g, '').slice(2))

const commonName = (name: string) => sequence(der(0x31, sequence(oid('550403'), text(0x0c, name))))
const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'))
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value))

const isAuthority = sequence(
  oid('551d13'),
  der(0x01, Buffer.of(0xff)),
  der(0x04, sequence(der(0x01, Buffer.of(0xff)))),
)
const ownKeyId = (id: Buffer) => extension('551d0e', der(0x04, id))
const signersKeyId = (id: Buffer) => extension('551d23', sequence(der(0x80, id)))
const goodFor = (host: string) =>
  extension(
    '551d11',
    sequence(
      isIP(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : text(0x82, host),
    ),
  )

const keyIdOf = (key: Buffer) => createHash('sha1').update(key).digest()

type Subject = { name: string; key: Buffer; extensions: Buffer[]; ends: Date }
type Signer = { name: string; key: KeyObject }

const day = 86_400_000

function certificate({ name, key, extensions, ends }: Subject, signer: Signer): string {
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1), keyIdOf(key)),
    ecdsaWithSha256,
    commonName(signer.name),
    sequence(time(new Date(Date.now() - 2 * day)), time(ends)),
    commonName(name),
    key,
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', signed, signer.key)
  const whole = sequence(signed, ecdsaWithSha256, der(0x03, Buffer.of(0), signature))
  const lines = whole.toString('base64').match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

function newKeys() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { key: publicKey.export({ type: 'spki', format: 'der' }), privateKey }
}

const later = (days: number) => new Date(Date.now() + days * day)

/** Creates an authority. Two authorities may have the same name, like Supabase's. */
export function authority(name: string): Authority {
  const { key, privateKey } = newKeys()
  const keyId = keyIdOf(key)
  const extensions = [isAuthority, ownKeyId(keyId)]
  const signer = { name, key: privateKey }
  const pem = certificate({ name, key, extensions, ends: later(1) }, signer)
  return { pem, name, key: privateKey, keyId }
}

export function certificateFor(host: string, by?: Authority, days = 1): Certificate {
  const { key, privateKey } = newKeys()
  const extensions = [goodFor(host), signersKeyId(by?.keyId ?? keyIdOf(key))]
  const signer = by ?? { name: host, key: privateKey }
  return {
    cert: certificate({ name: host, key, extensions, ends: later(days) }, signer),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}
