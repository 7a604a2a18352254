// Accepts a PDF by its beginning and end, unless it is encrypted. The rest is not checked, so a PDF is only
// ever served as a download.
import type { Bytes } from '../../_shared/input/bytes.ts'

const text = new TextDecoder('latin1')

export const isReadablePdf = (bytes: Bytes) =>
  text.decode(bytes.subarray(0, 5)) === '%PDF-' &&
  text.decode(bytes.subarray(-1024)).includes('%%EOF') && !isEncrypted(bytes)

// Each letter of /Encrypt may be written as # and its hex code. The value is a dictionary or a reference.
const encryption =
  /\/(?:E|#45)(?:n|#6[Ee])(?:c|#63)(?:r|#72)(?:y|#79)(?:p|#70)(?:t|#74)[\0\s]{0,50}(?:<<|\d{1,10}[\0\s]+\d+[\0\s]+R)/
const pieceSize = 64 * 1024
const longest = 100

/** Searches the file for an /Encrypt entry. The dictionary that has it is never compressed. */
function isEncrypted(bytes: Bytes): boolean {
  for (let at = 0; at < bytes.length; at += pieceSize) {
    if (encryption.test(text.decode(bytes.subarray(at, at + pieceSize + longest)))) return true
  }
  return false
}
