export type * from '../_shared/chat/protocol.ts'

/** The WebSocket subprotocol. A client may also offer `bearer.<token>` to send its token. */
export const subprotocol = 'chat'
export const tokenPrefix = 'bearer.'

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

/** The gateway's limits per socket. The database enforces its own limits, too. */
export const limits = {
  /** Large enough for 4000 characters in any script. */
  frameBytes: 64 * 1024,
  authSeconds: 10,
  /** Messages allowed at once after a pause. GATEWAY_MESSAGES is the number per second. */
  messageBurst: 20,
  /** Frames of all kinds. The burst is allowed after a pause. */
  framesPerSecond: 50,
  frameBurst: 200,
  /** After this many offences (rate refusals) within a minute, the socket is closed. */
  offences: 3,
  conversations: 50,
  /** Bytes that may be queued for a client that is not reading. */
  bufferedBytes: 1024 * 1024,
} as const
