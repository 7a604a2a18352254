/** CRC-32 as in PNG. Handles eight bytes at a time, because it reads every byte of a PNG once or twice. */
const tables = new Int32Array(8 * 256)
for (let byte = 0; byte < 256; byte++) {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  tables[byte] = value
}
for (let at = 256; at < tables.length; at++) {
  const value = tables[at - 256]
  tables[at] = tables[value & 255] ^ (value >>> 8)
}

export function crc(bytes: Uint8Array): number {
  const t = tables
  let value = -1
  let at = 0
  for (const end = bytes.length - 7; at < end; at += 8) {
    const low = value ^
      (bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24)
    value = t[1792 + (low & 255)] ^ t[1536 + ((low >>> 8) & 255)] ^
      t[1280 + ((low >>> 16) & 255)] ^ t[1024 + (low >>> 24)] ^ t[768 + bytes[at + 4]] ^
      t[512 + bytes[at + 5]] ^ t[256 + bytes[at + 6]] ^ t[bytes[at + 7]]
  }
  for (; at < bytes.length; at++) value = t[(value ^ bytes[at]) & 255] ^ (value >>> 8)
  return (value ^ -1) >>> 0
}
