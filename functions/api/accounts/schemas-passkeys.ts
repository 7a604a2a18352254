import { z } from '@hono/zod-openapi'
import { upTo, visible } from '../../_shared/input/texts.ts'
import { Count, Time } from '../http/route.ts'

const bytes = (about: string) =>
  z.string().max(20_000).regex(/^[\w+/-]+={0,2}$/).describe(about).openapi({ example: 'AAAA' })

const transport = z.string().regex(/^[a-z-]{1,20}$/).openapi({ example: 'internal' })
const id = bytes('Base64url, with or without padding, as all bytes here.')
const type = z.literal('public-key').describe('Always this.')
const clientDataJSON = bytes('What the browser signed: challenge, origin and type.')

/** Unknown fields are allowed, because browsers may add some. */
export const Attestation = z
  .looseObject({
    id,
    type,
    response: z.looseObject({
      clientDataJSON,
      attestationObject: bytes('The public key, and what the passkey says of itself.'),
      transports: z.array(transport).max(10).optional().describe('How the browser reaches it.'),
    }).describe('What the passkey answered.'),
  })
  .openapi('PasskeyAttestation', {
    description: 'What `navigator.credentials.create()` gave, as its `toJSON()` has it.',
  })
export type Attestation = z.output<typeof Attestation>

export const Assertion = z
  .looseObject({
    id,
    type,
    response: z.looseObject({
      clientDataJSON,
      authenticatorData: bytes('For which host, and whether the person was verified.'),
      signature: bytes('Over both.'),
    }).describe('What the passkey answered.'),
  })
  .openapi('PasskeyAssertion', {
    description: 'What `navigator.credentials.get()` gave, as its `toJSON()` has it.',
  })
export type Assertion = z.output<typeof Assertion>

export const PasskeyName = visible(50).check(upTo(50)).min(1).openapi({
  example: 'مفتاح المكتب',
})

export const Passkey = z
  .object({
    id: z.uuid(),
    name: z.string().nullable().describe(
      'As it was called when it was added; null without a name.',
    ),
    rpId: z.string().describe('The host whose pages it serves.').openapi({
      example: 'desk.your.site',
    }),
    createdAt: Time.describe('When it was added.'),
    lastUsedAt: Time.nullable().describe('When it last proved; null: never.'),
  })
  .openapi('Passkey', { description: 'A passkey of an administrator.' })

const challenge = z.string().describe('Base64url; to be signed once, within five minutes.')
const timeout = Count.describe('Milliseconds.').openapi({ example: 300000 })

const Descriptor = z
  .object({
    type,
    id: z.string().describe('Base64url.'),
    transports: z.array(z.string()).optional().describe('How to reach it; absent: in any way.'),
  })
  .openapi('PasskeyDescriptor', { description: 'A passkey, as browsers are told of it.' })

export const CreationOptions = z
  .object({
    challenge,
    rp: z.object({
      id: z.string().describe('The host of the page that asks.'),
      name: z.string().describe('The same.'),
    }).describe('Whom it will serve.'),
    user: z.object({
      id: z.string().describe('Base64url.'),
      name: z.string().describe('The email or phone.'),
      displayName: z.string().describe('The name of the person.'),
    }).describe('Whose it will be.'),
    pubKeyCredParams: z.array(
      z.object({ type, alg: z.int().describe('A COSE algorithm.').openapi({ example: -7 }) }),
    ).describe('Which keys are taken.'),
    timeout,
    attestation: z.literal('none').describe('Its maker need not vouch for it.'),
    authenticatorSelection: z.object({
      residentKey: z.literal('preferred').describe('Kept by the device where it can.'),
      userVerification: z.literal('required').describe('By finger, face or PIN, always.'),
    }).describe('What it has to be able to do.'),
    excludeCredentials: z.array(Descriptor).describe(
      'Those that are there: one device does not get two.',
    ),
  })
  .openapi('PasskeyCreationOptions', {
    description: 'For `PublicKeyCredential.parseCreationOptionsFromJSON()`.',
  })

export const RequestOptions = z
  .object({
    challenge,
    rpId: z.string().describe('The host of the page that asks.'),
    timeout,
    userVerification: z.literal('required').describe('By finger, face or PIN, always.'),
    allowCredentials: z.array(Descriptor).describe('Those that serve this host.'),
  })
  .openapi('PasskeyRequestOptions', {
    description: 'For `PublicKeyCredential.parseRequestOptionsFromJSON()`.',
  })
