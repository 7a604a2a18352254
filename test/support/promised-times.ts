// The times promised in docs/contract and docs/cases.md, in milliseconds. Tests assert no other times.
import { expect } from 'vitest'
import { variable } from '../../local/config/environment.ts'

const promisedTimes = {
  'a webhook is answered': 1000, // G-17
  'a provider of payments that fails is answered for': 10_000, // PAY-11
  'a status is answered although the provider is slow': 3500, // PAY-12
  'a code that is not sent is answered for': 4500, // SMS-03
  'a file that is too large is refused': 2000, // MED-02
  'an upload that stalls is ended': 30_000, // MED-02
  'a push that is not answered is given up': 6000, // four seconds for this push, then the others
  // The statement timeout of 5 s, and a second to respond.
  'a search that waits is given up': 6000, // SRCH-08
  'a search is answered again': 2000, // SRCH-08
  'answers that must look alike differ by': 15, // G-14
  'nothing hangs': 10_000, // CRASH-07
  'a purge deletes its share': 500,
  'a part of the stack is back': 5000,
  'a message is with the other side': 500, // CHAT-16
  'a good client of the gateway is let in': 1000, // CHAT-10
  'a statement that nobody waits for ends': 5000, // LOAD-07
  'a lost right closes what is open': 5000, // PR-02
  'a text over its bound is refused': 50, // INP-23
  'a stack is ready for the first time': 30_000, // G-24
  'a stack is ready again': 8000,
  'a stack has stopped': 10_000, // CRASH-05
  // Three seconds for proxies to notice, then ten for running requests.
  'a facade has stopped, whatever stalls': 13_000, // CRASH-05
  'a gateway has stopped': 10_000, // CRASH-05
}
type PromisedTime = keyof typeof promisedTimes

/** `npm run test:timing` checks the exact promised times. */
const exact = variable('TIMES') === 'exact'

/**
 * Checks a promised time: exactly in `npm run test:timing`, on a quiet machine; with ten times the limit in
 * `npm test` (less where the best of several attempts counts); and not at all in a slowed run (SLOW).
 */
export function expectWithin(name: PromisedTime, took: number, times = 10) {
  if (variable('SLOW')) return
  if (exact) console.log(`${name}: ${took.toFixed(1)} of ${promisedTimes[name]} ms`)
  expect(took, name).toBeLessThan(promisedTimes[name] * (exact ? 1 : times))
}

export async function within<T>(name: PromisedTime, act: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await act()
  expectWithin(name, performance.now() - began)
  return result
}
