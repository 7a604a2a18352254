/**
 * What is accepted as a PDF, by its content: it begins and ends as one and is readable by everybody. The
 * rest of it is not looked at, and so it is only ever served as a file to be saved.
 */
import type { Bytes } from '../../_shared/bytes.ts'

const text = new TextDecoder('latin1')

export const isReadablePdf = (bytes: Bytes) =>
  text.decode(bytes.subarray(0, 5)) === '%PDF-' &&
  text.decode(bytes.subarray(-1024)).includes('%%EOF') && !isEncrypted(bytes)

// Each letter of /Encrypt may be written as # and its number; its value is a dictionary or refers to one.
const encryption =
  /\/(?:E|#45)(?:n|#6[Ee])(?:c|#63)(?:r|#72)(?:y|#79)(?:p|#70)(?:t|#74)[\0\s]{0,50}(?:<<|\d{1,10}[\0\s]+\d+[\0\s]+R)/
const pieceSize = 64 * 1024
const longest = 100

/** Whether the dictionary at its end, which is never compressed, names an encryption. */
function isEncrypted(bytes: Bytes): boolean {
  for (let at = 0; at < bytes.length; at += pieceSize) {
    if (encryption.test(text.decode(bytes.subarray(at, at + pieceSize + longest)))) return true
  }
  return false
}
