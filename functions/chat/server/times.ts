/**
 * The times of the gateway, in milliseconds. A process that serves only a test may have other ones
 * (`serveChat`): what takes half a minute here need not take as long there.
 */
export const times = {
  /** How often it asks whether rights and sessions still hold. */
  accessEvery: 3000,
  /** How often it asks for updates that Realtime did not bring. */
  updatesEvery: 25_000,
  /** A heartbeat to Realtime, and the silence after which a connection to it is given up. */
  heartbeatEvery: 20_000,
  silenceLimit: 30_000,
  /** For the head of a request. */
  headTime: 10_000,
  /** For an answer that a socket which ends still waits for: longer than the database works on anything. */
  answerTime: 6000,
  /** Refusals for haste within this time are one offence. */
  offence: 1000,
}
export type Times = typeof times
