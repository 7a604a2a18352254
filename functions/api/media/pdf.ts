// Recognises a PDF by its beginning and end. Tolerates bytes that scanners, printers and web servers add
// around it. Nothing else is checked, so a PDF is only ever served as a download.
import type { Bytes } from '../../_shared/input/bytes.ts'

const text = new TextDecoder('latin1')
const marginSize = 1024

/** Returns undefined if the bytes are not a PDF. */
export function pdfIn(bytes: Bytes): { encrypted: boolean } | undefined {
  const start = text.decode(bytes.subarray(0, marginSize + '%PDF-'.length))
  if (!start.includes('%PDF-')) return undefined
  const end = text.decode(withoutPadding(bytes).subarray(-marginSize))
  return end.includes('%%EOF') ? { encrypted: isEncrypted(bytes) } : undefined
}

function withoutPadding(bytes: Bytes): Bytes {
  let end = bytes.length
  while (end > 0 && isBlank(bytes[end - 1])) end--
  return bytes.subarray(0, end)
}

/** White space in PDF: NUL, tab, line breaks, form feed and space. */
const isBlank = (byte: number) => byte === 0 || byte === 0x20 || byte >= 0x09 && byte <= 0x0d

// Each letter of /Encrypt may also be written as # and its hex code. The value is a dictionary or a
// reference.
const encryption =
  /\/(?:E|#45)(?:n|#6[Ee])(?:c|#63)(?:r|#72)(?:y|#79)(?:p|#70)(?:t|#74)[\0\s]{0,50}(?:<<|\d{1,10}[\0\s]+\d+[\0\s]+R)/
const pieceSize = 64 * 1024
const longest = 100

/**
 * Whether the file has an /Encrypt entry. The dictionary that contains it is never compressed. The entry does
 * not mean that a password is needed: a PDF with only an owner password opens without one.
 */
function isEncrypted(bytes: Bytes): boolean {
  for (let at = 0; at < bytes.length; at += pieceSize) {
    if (encryption.test(text.decode(bytes.subarray(at, at + pieceSize + longest)))) return true
  }
  return false
}
