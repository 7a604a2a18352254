import { randomInt } from 'node:crypto'
import { test } from 'vitest'
import { projectUrl } from './client.ts'

// All addresses 127.x.y.z belong to this machine, but a local stack treats each as a different client.
const isHere = new URL(projectUrl).hostname === '127.0.0.1'
export const testFromAddresses = test.runIf(isHere)
if (!isHere) {
  console.log(
    'The project is not on this machine: tests that come from several addresses are left out.',
  )
}

export const newAddress = () => `127.${randomInt(1, 255)}.${randomInt(255)}.${randomInt(1, 255)}`

export const tally = (statuses: number[]) =>
  Object.fromEntries([...new Set(statuses)].map((status) => [
    status,
    statuses.filter((one) => one === status).length,
  ]))

export const spoofedHeaders = (): [string, string][] => {
  const other = `10.${randomInt(255)}.${randomInt(255)}.${randomInt(255)}`
  return [
    ['X-Forwarded-For', `${other}, 2001:db8::${randomInt(9999)}, ${other}`],
    ['Forwarded', `for=${other}`],
    ['X-Real-IP', other],
    ['CF-Connecting-IP', other],
    ['True-Client-IP', other],
    ['X-Client-IP', `[2001:db8:${randomInt(9999)}::1]`],
  ]
}
