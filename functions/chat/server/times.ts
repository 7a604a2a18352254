/** The gateway's times in milliseconds. Tests may pass shorter ones (`serveChat`). */
export const times = {
  accessEvery: 3000,
  updatesEvery: 25_000,
  /** The interval of heartbeats to Realtime, and the silence after which a connection is given up. */
  heartbeatEvery: 20_000,
  silenceLimit: 30_000,
  /** The time limit for the headers of a request. */
  headTime: 10_000,
  /** The time limit for the pending answers of a closing socket, longer than any call of the database. */
  answerTime: 6000,
  offence: 1000,
}
export type Times = typeof times
