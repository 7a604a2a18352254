// Runs first-day.ts in Node or Deno and prints the result. The argument is the path
// of a JSON file with settings.
import { readFileSync } from 'node:fs'
import process from 'node:process'
import { memoryStorage } from 'kuwait-property-client'
import { firstDay } from './first-day.ts'

const world = JSON.parse(readFileSync(process.argv[2]!, 'utf8'))
const storages = new Map<string, ReturnType<typeof memoryStorage>>()

const result = await firstDay({
  ...world,
  pictures: world.pictures.map((path: string) => new Blob([readFileSync(path)])),
  storageOf(phone) {
    const storage = storages.get(phone) ?? memoryStorage()
    storages.set(phone, storage)
    return storage
  },
  async codeFor(phone) {
    for (;;) {
      const response = await fetch(`${world.inboxUrl}/messages?to=${phone}`)
      const [message] = await response.json()
      if (message) return message.code
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  },
  async payAt(page) {
    const body = new URLSearchParams({ outcome: 'pay', callback: 'once' })
    const { status } = await fetch(page, { method: 'POST', body, redirect: 'manual' })
    if (status !== 303) throw new Error(`the sandbox answered ${status}`)
  },
})
console.log(JSON.stringify(result))
