import { z } from '@hono/zod-openapi'
import { frameData, FrameRef } from '../../_shared/chat/frames.ts'
import type { ErrorCode } from '../../_shared/errors/errors.ts'
import { type Detail, Refusal } from '../../_shared/errors/refusal.ts'
import { checkJson } from '../../_shared/input/json.ts'
import { read, validationError } from '../../_shared/input/validation.ts'
import type { Ref } from '../protocol.ts'

type Data = { [Event in keyof typeof frameData]: z.infer<typeof frameData[Event]> }

export type Frame = {
  [Event in keyof Data]: { event: Event; data: Data[Event]; ref?: Ref }
}[keyof Data]

const Envelope = z.strictObject({
  event: z.enum(Object.keys(frameData) as [keyof Data]),
  data: z.unknown().optional(),
  ref: FrameRef.optional(),
})

/** An invalid frame. It has a `ref` if the frame's `ref` could be read. */
export class BadFrame extends Refusal {
  readonly ref?: Ref

  constructor(code: ErrorCode, detail: Detail, ref?: Ref) {
    super(code, detail)
    this.ref = ref
  }
}

function usableRef(value: { ref?: unknown } | null): Ref | undefined {
  const { data: ref } = read(Envelope.shape.ref, value?.ref)
  return typeof ref === 'string' && !ref.isWellFormed() ? undefined : ref
}

/** Throws a SyntaxError if the text is not JSON, or a BadFrame if the frame is invalid. */
export function readFrame(text: string): Frame {
  const value = JSON.parse(text)
  try {
    checkJson(text)
  } catch (error) {
    const { code, detail } = error as Refusal
    throw new BadFrame(code, detail, usableRef(value))
  }
  const envelope = read(Envelope, value)
  if (!envelope.success) throw badFrame(envelope.error, '', usableRef(value))
  const { event, ref } = envelope.data
  const parsed = read(frameData[event], envelope.data.data ?? {})
  if (!parsed.success) throw badFrame(parsed.error, 'data', ref)
  return { event, data: parsed.data, ref } as Frame
}

function badFrame(error: z.ZodError, within: string, ref?: Ref) {
  const [code, { fields = [] }] = validationError(error)
  const inFrame = fields.map((field) => ({
    ...field,
    path: [within, field.path].filter(Boolean).join('.'),
  }))
  return new BadFrame(code, { fields: inFrame }, ref)
}
