/**
 * The kind of Uint8Array that fetch and crypto accept. Newer versions of TypeScript call it
 * Uint8Array<ArrayBuffer>.
 */
export type Bytes = ReturnType<Uint8Array['slice']>

const utf8 = new TextEncoder()

export const bytesOf = (data: string | Uint8Array): Bytes =>
  typeof data === 'string' ? utf8.encode(data) : data as Bytes

export const toBase64 = (data: string | Uint8Array): string =>
  btoa(String.fromCharCode(...bytesOf(data)))

export const fromBase64 = (text: string): Bytes =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
