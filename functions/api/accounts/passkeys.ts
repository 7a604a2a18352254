// Passkeys (WebAuthn): creates the options for browsers and verifies their responses.
import type { ApiContext } from '../../_shared/caller/context.ts'
import { isAllowedOrigin } from '../../_shared/caller/origins.ts'
import { call } from '../../_shared/database/db.ts'
import { invalidField } from '../../_shared/errors/refusal.ts'
import { toBase64 } from '../../_shared/input/bytes.ts'
import { env } from '../../_shared/settings/env.ts'
import type { Assertion, Attestation } from './schemas-passkeys.ts'

/** ES256, and RS256 for Windows Hello. All runtimes that verify signatures here support both. */
export const algorithms = [-7, -257]

export const timeout = 300_000

// The host must be a domain name, because browsers do not support passkeys for IP addresses.
const isPage = (origin: string) => /^https?:\/\/(?!\[|[\d.]+(:\d+)?$)/.test(origin)

/**
 * Returns the origin of the requesting page, and its host without the port, to which passkeys are bound. Apps
 * send no Origin header, so they use the first web page in CORS_ORIGINS.
 */
function pageOf(c: ApiContext) {
  const origin = c.req.header('origin') ?? env.corsOrigins.find(isPage) ?? 'http://localhost'
  if (!isPage(origin) || !isAllowedOrigin(origin)) throw invalidField('Origin', 'invalid')
  return { origin, rpId: new URL(origin).hostname }
}

/**
 * Converts to base64url without padding, as browsers send it. Some clients send standard base64 or padding.
 */
const base64url = (text: string) =>
  text.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_')

type Begun = {
  accountId: string
  name: string
  displayName: string
  passkeys: { id: string; transports: string[] | null }[]
}

/** Begins adding a passkey or re-authenticating with one. */
export async function begin(c: ApiContext, adding: boolean) {
  const { rpId } = pageOf(c)
  const challenge = base64url(toBase64(crypto.getRandomValues(new Uint8Array(32))))
  const begun: Begun = JSON.parse(await call(c, 'begin_passkey', { adding, challenge, rpId }))
  const passkeys = begun.passkeys.map(({ id, transports }) => ({
    type: 'public-key',
    id,
    ...(transports && { transports }),
  }))
  return { ...begun, challenge, rpId, passkeys }
}

/** The bytes of a UUID, so that a passkey stores no personal data. */
export const userHandle = (id: string) =>
  base64url(btoa(String.fromCharCode(...id.match(/[0-9a-f]{2}/g)!.map((hex) => parseInt(hex, 16)))))

type Taken = {
  challenge: string | null
  passkey: { id: string; publicKey: string; counter: number } | null
}

const take = async (c: ApiContext, adding: boolean, id: string): Promise<Taken> =>
  JSON.parse(await call(c, 'take_passkey_challenge', { adding, credentialId: base64url(id) }))

// Imported on demand, because only administrators need these libraries.
const library = async () => ({
  ...await import('@simplewebauthn/server'),
  ...await import('@simplewebauthn/server/helpers'),
})

/** Returns undefined if the library throws. Its error is logged without the values in the message. */
async function ifRight<T>(c: ApiContext, verify: () => Promise<T>): Promise<T | undefined> {
  try {
    return await verify()
  } catch (error) {
    c.set('cause', `passkey: ${(error as Error).message.replace(/["'\d].*/s, '').trim()}`)
  }
}

/** Refuses a signature made in a cross-origin iframe, because the embedding page may pretend to be ours. */
function refuseFramed(clientData: string) {
  const { crossOrigin } = JSON.parse(atob(clientData.replaceAll('-', '+').replaceAll('_', '/')))
  if (crossOrigin === true) throw new Error('signed in a frame')
}

/** Verifies a new passkey and returns the fields to store. Undefined if the verification fails. */
export async function verifyNew(c: ApiContext, { id, response }: Attestation) {
  const { origin, rpId } = pageOf(c)
  const { challenge } = await take(c, true, id)
  if (!challenge) return undefined
  const clientDataJSON = base64url(response.clientDataJSON)
  const attestationObject = base64url(response.attestationObject)
  return await ifRight(c, async () => {
    refuseFramed(clientDataJSON)
    const { decodeAttestationObject, isoBase64URL, verifyRegistrationResponse } = await library()
    const format = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject)).get('fmt')
    // We do not request attestation. Verifying other formats would fetch URLs from their certificates.
    if (format !== 'none' && format !== 'packed') throw new Error('attested')
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      supportedAlgorithmIDs: algorithms,
    })
    if (!verified) throw new Error('not verified')
    const { credential, credentialDeviceType } = registrationInfo
    const { transports = [] } = response
    // A synced passkey can also be used through a phone, even if the device that created it does not report
    // this.
    const isReached = credentialDeviceType === 'singleDevice' || transports.includes('hybrid')
    return {
      credentialId: credential.id,
      publicKey: isoBase64URL.fromBuffer(credential.publicKey),
      counter: credential.counter,
      rpId,
      transports: transports.length && isReached ? transports : undefined,
    }
  })
}

/**
 * Verifies a signature by a passkey. Returns the passkey's id and counter, or undefined if the verification
 * fails.
 */
export async function verifyProof(c: ApiContext, { id, response }: Assertion) {
  const { origin, rpId } = pageOf(c)
  const { challenge, passkey } = await take(c, false, id)
  if (!challenge || !passkey) return undefined
  const clientDataJSON = base64url(response.clientDataJSON)
  return await ifRight(c, async () => {
    refuseFramed(clientDataJSON)
    const { isoBase64URL, verifyAuthenticationResponse } = await library()
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: base64url(id),
        rawId: base64url(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON,
          authenticatorData: base64url(response.authenticatorData),
          signature: base64url(response.signature),
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      credential: {
        id: base64url(id),
        publicKey: isoBase64URL.toBuffer(passkey.publicKey),
        counter: passkey.counter,
      },
    })
    if (!verified) throw new Error('not verified')
    return { passkeyId: passkey.id, counter: authenticationInfo.newCounter }
  })
}
