// Runs first-day.ts in a browser, without a bundler. The test provides `codeFor` and `payAt`,
// which a page cannot implement.
import { firstDay, type World } from './first-day.ts'

export type Given = Pick<World, 'url' | 'owner' | 'buyer' | 'word'> & {
  /** The pictures as data: URLs. */
  files: string[]
}

const lent = globalThis as unknown as Pick<World, 'codeFor' | 'payAt'>

export async function run({ files, ...people }: Given) {
  const pictures = await Promise.all(files.map(async (file) => await (await fetch(file)).blob()))
  const storageOf = (phone: string) => ({
    getItem: (key: string) => localStorage.getItem(phone + key),
    setItem: (key: string, value: string) => localStorage.setItem(phone + key, value),
    removeItem: (key: string) => localStorage.removeItem(phone + key),
  })
  const { codeFor, payAt } = lent
  return await firstDay({ ...people, pictures, storageOf, codeFor, payAt })
}
