export type * from '../_shared/chat/protocol.ts'

/** The WebSocket subprotocol. A client may offer its token beside it, as `bearer.<token>`. */
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

/** The gateway's limits for one socket. The database has limits of its own. */
export const limits = {
  /** Fits a body of 4000 characters in any script. */
  frameBytes: 64 * 1024,
  authSeconds: 10,
  /** Messages allowed at once after a pause; GATEWAY_MESSAGES is the number per second. */
  messageBurst: 20,
  /** Frames of any kind; the burst is allowed after a pause. */
  framesPerSecond: 50,
  frameBurst: 200,
  /** The number of rate refusals within a minute that closes the socket. */
  offences: 3,
  conversations: 50,
  /** Bytes that may be queued for a client that does not read. */
  bufferedBytes: 1024 * 1024,
} as const
