/**
 * What clients and the chat gateway say to one another (contract, section 6), and the limits that the
 * gateway keeps.
 */

export type * from '../_shared/chat-protocol.ts'

/** The subprotocol; a token comes beside it as `bearer.<token>`. */
export const subprotocol = 'chat'
export const tokenPrefix = 'bearer.'

/** Why a socket was closed. */
export const closeCodes = {
  stopping: 1001,
  binary: 1003,
  notText: 1007,
  refused: 1008,
  tooBig: 1009,
  tooOld: 1012,
  unavailable: 1013,
  tokenInQuery: 4400,
  unauthorized: 4401,
  forbidden: 4403,
  tooMany: 4429,
} as const

/** Limits of one socket; a client that keeps them meets no refusal. */
export const limits = {
  /** A body of 4000 characters in any script fits. */
  frameBytes: 64 * 1024,
  /** Until a socket must have shown its token. */
  authSeconds: 10,
  /** Messages at once after a pause; GATEWAY_MESSAGES says how many a second. */
  messageBurst: 20,
  /** Frames of any kind, and how many at once after a pause. */
  framesPerSecond: 50,
  frameBurst: 200,
  /** Refusals for haste within a minute that end the socket. */
  offences: 3,
  /** Conversations that a socket may have joined. */
  conversations: 50,
  /** What may wait for a client that does not read. */
  bufferedBytes: 1024 * 1024,
} as const
