/** Durations in milliseconds. Tests may pass shorter ones to `serveChat`. */
export const times = {
  accessEvery: 3000,
  updatesEvery: 25_000,
  /**
   * How often to send a heartbeat to Realtime, and how long a connection may be silent before it is dropped.
   */
  heartbeatEvery: 20_000,
  silenceLimit: 30_000,
  /** How long to wait for the headers of a request. */
  headTime: 10_000,
  /** How long a closing socket waits for pending responses. Longer than any database call takes. */
  answerTime: 6000,
  offence: 1000,
}
export type Times = typeof times
