// Colour profiles: well-known colour spaces as several makers write them, others that
// change colours, and invalid ones.
import * as icc from '../support/profiles.ts'

const { primaries, ofSrgb, matrixTags, profile, lut, xyz, gamma, u32 } = icc
const text = (value: string) => Buffer.from(value, 'latin1')

/** This profile shows red as blue. */
export const turned = profile(matrixTags(primaries.turned, ofSrgb))

const withMark = (tag: Buffer) => Buffer.concat([tag, text(' PLANTED ')])

/** Returns a profile with a lookup table in five parts, some of which share the same bytes. */
function sharedParts(entries: number, more: Record<string, Buffer> = {}): Buffer {
  const curves = Buffer.concat(Array(3).fill(icc.table(entries, (x) => x)))
  const own = lut('mAB ', primaries.turned)
  const from = (index: number) => own.readUInt32BE(12 + 4 * index)
  const [matrix, grid] = [own.subarray(from(1), from(1) + 48), own.subarray(from(3), from(4))]
  const offsets = [32, 32 + curves.length, 32, 32 + curves.length + 48, 32]
  const tag = [own.subarray(0, 12), u32(...offsets), curves, matrix, grid]
  return profile({ A2B0: Buffer.concat(tag), ...more })
}

export const known: Record<string, [name: string, made: Buffer]> = {
  'Display P3 as iPhones have it': ['Display P3', profile(matrixTags(primaries.p3, ofSrgb))],
  'Display P3 as Android has it': [
    'Display P3',
    profile(matrixTags(primaries.p3OfAndroid, ofSrgb)),
  ],
  'Display P3 of version 2, with a table': [
    'Display P3',
    profile(matrixTags(primaries.p3, icc.table(1024, icc.srgbCurve)), { version: 2 }),
  ],
  'Adobe RGB': [
    'Adobe RGB',
    profile(matrixTags(primaries.adobe, gamma(563 / 256)), { version: 2 }),
  ],
  'sRGB of a scanner, with its white': [
    'sRGB',
    profile(
      {
        ...matrixTags(primaries.srgb, icc.table(1024, icc.srgbCurve)),
        wtpt: xyz(0.9505, 1, 1.0891),
      },
      { version: 2, class: 'scnr' },
    ),
  ],
  'sRGB with a table and formulas': [
    'sRGB',
    profile(matrixTags(primaries.srgb, icc.table(1025, icc.srgbCurve), ofSrgb, ofSrgb)),
  ],
}

/** Profiles that change the colours shown. */
export const others: Record<string, Buffer> = {
  'ProPhoto': profile(matrixTags(primaries.proPhoto, gamma(1.8)), { version: 2 }),
  'primaries of nobody': profile(matrixTags(primaries.turned, ofSrgb)),
  'sRGB with a gamma of 1.8': profile(matrixTags(primaries.srgb, gamma(1.8))),
  'sRGB with straight curves': profile(matrixTags(primaries.srgb, icc.table(0, Number))),
  'another curve for each': profile(matrixTags(
    primaries.p3,
    icc.parametric(0, 1.5),
    icc.parametric(1, 2.2, 1.1, -0.1),
    icc.parametric(4, 2.4, 0.9, 0.05, 0.1, 0.04, 0.02, 0.01),
  )),
  'a gamma with a floor': profile(
    matrixTags(primaries.adobe, icc.parametric(2, 1.8, 1.05, -0.05, 0.05)),
  ),
  'words behind each tag': profile(
    Object.fromEntries(
      Object.entries(matrixTags(primaries.turned, gamma(1.7), ofSrgb))
        .map(([name, tag]) => [name, withMark(tag)]),
    ),
  ),
  'a table of bytes': profile({ A2B0: withMark(lut('mft1', primaries.turned, 9)) }),
  'a table of two bytes': profile({ A2B0: withMark(lut('mft2', primaries.turned, 9)) }),
  'a table in five parts': profile({ A2B0: withMark(lut('mAB ', primaries.turned, 9)) }),
  'a table of which parts are shared': sharedParts(100),
  'a second table alone, as cameras and XYB have': profile(
    { A2B1: lut('mAB ', primaries.turned, 5) },
    { class: 'scnr' },
  ),
  'a table beside the primaries of P3': profile({
    ...matrixTags(primaries.p3, ofSrgb),
    A2B0: lut('mft2', primaries.turned, 9),
    B2A0: lut('mft2', primaries.turned),
  }),
  'code points beside the primaries of sRGB': profile({
    ...matrixTags(primaries.srgb, ofSrgb),
    cicp: Buffer.concat([text('cicp'), u32(0), Buffer.from([12, 16, 0, 1])]),
  }),
  'a white that is none': profile({
    ...matrixTags(primaries.turned, ofSrgb),
    wtpt: text('PLANTED'),
    chad: text('PLANTED'),
  }),
  'the largest that is kept': (() => {
    const without = profile({ A2B0: lut('mft1', primaries.turned, 26), vcgt: Buffer.alloc(4) })
    const vcgt = Buffer.alloc(4 + 65_536 - without.length)
    return profile({ A2B0: lut('mft1', primaries.turned, 26), vcgt })
  })(),
  'one that takes two segments of a JPEG': sharedParts(3600, { rTRC: icc.table(88, Number) }),
}

const large = profile({ A2B0: lut('mft1', primaries.turned, 33) })
export const faults: Record<string, Buffer> = {
  'larger than 64 KiB': large,
  'of 64 KiB and one byte': Buffer.concat([others['the largest that is kept']!, Buffer.alloc(1)]),
  'that is cut': turned.subarray(0, -8),
  'of a later version': profile(matrixTags(primaries.turned, ofSrgb), { version: 5 }),
  'of other samples': profile(matrixTags(primaries.turned, ofSrgb), { space: 'HSV ' }),
  'to other colours': profile(matrixTags(primaries.turned, ofSrgb), { pcs: 'Luv ' }),
  'of another white': Buffer.concat([turned.subarray(0, 68), u32(70_000), turned.subarray(72)]),
  'of no profile': Buffer.concat([turned.subarray(0, 36), text('none'), turned.subarray(40)]),
  'with more tags than it holds': Buffer.concat([
    turned.subarray(0, 128),
    u32(0xffffffff),
    turned.subarray(132),
  ]),
  'with a curve that is none': profile({
    ...matrixTags(primaries.turned, ofSrgb),
    gTRC: text('PLANTED'),
  }),
  'with a curve of no kind': profile(matrixTags(primaries.turned, icc.parametric(5, 1))),
  'with a curve longer than it': profile(matrixTags(
    primaries.turned,
    Buffer.concat([text('curv'), u32(0, 0x7fffffff)]),
  )),
  'with a table cut short': profile({ A2B0: lut('mft2', primaries.turned, 9).subarray(0, -100) }),
  'with a table of parts cut short': profile({
    A2B0: lut('mAB ', primaries.turned).subarray(0, -40),
  }),
  'with a table of no kind': profile({ A2B0: Buffer.concat([text('PLAN'), Buffer.alloc(60)]) }),
  'with a table of 255 channels': profile({
    A2B0: Buffer.concat([
      text('mft2'),
      u32(0),
      Buffer.from([255, 255, 255, 0]),
      Buffer.alloc(60),
    ]),
  }),
}
