/**
 * Bytes in memory of their own, as fetch and crypto want them: what newer TypeScript calls
 * Uint8Array<ArrayBuffer>, and that of the edge runtime just Uint8Array.
 */
export type Bytes = ReturnType<Uint8Array['slice']>
