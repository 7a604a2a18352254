/** The hosted project of the stand-in for the Management API: its ref, and what it keeps. */

export const ref = 'abcdefghijklmnopqrst'

export type Json = Record<string, unknown>
export type Sent = { method: string; path: string; body: unknown }
export type Upload = { entrypoint: string; files: Map<string, Buffer> }

export type Platform = {
  url: string
  /** Every request that could change something, in order. */
  sent: Sent[]
  auth: Json
  realtime: Json
  storage: { fileSizeLimit: number; features: Record<string, { enabled: boolean }> }
  secrets: Map<string, string>
  /** What the CLI sent of each function. */
  uploads: Map<string, Upload>
  /** Metadata and names of the files of each function. */
  functions: Map<string, { version: number; verifyJwt: boolean; files: string[] }>
  keys: Json[]
  signing: Json[]
  status: string
  postgres: string
  /** Whether the address of the project takes its keys. */
  isOwn: boolean
  /** Returns a status to answer instead of handling the request. */
  fails: (method: string, path: string, query: URLSearchParams) => number | undefined
  /** Does what it is asked, and its answer is lost. */
  loses: (method: string, path: string) => boolean
  /** Settings that the API accepts but does not store. */
  forgets: Set<string>
  /** How the platform's proxies change the X-Forwarded-For header. */
  forwarded: (sent: string | undefined) => string
  /** The result of the jobs. */
  jobs: Json
  /** The doors of Auth that the jobs find open. */
  openDoors: string[]
  /** How many more sign-ins Auth answers before a change takes effect. */
  lag: number
  stop: () => Promise<void>
}
