export const ref = 'abcdefghijklmnopqrst'

export type Json = Record<string, unknown>
export type Sent = { method: string; path: string; body: unknown }
export type Upload = { entrypoint: string; files: Map<string, Buffer> }

export type Platform = {
  url: string
  /** All requests other than GET, in order. */
  sent: Sent[]
  auth: Json
  realtime: Json
  storage: { fileSizeLimit: number; features: Record<string, { enabled: boolean }> }
  secrets: Map<string, string>
  uploads: Map<string, Upload>
  functions: Map<string, { version: number; verifyJwt: boolean; files: string[] }>
  keys: Json[]
  signing: Json[]
  status: string
  postgres: string
  isOwn: boolean
  /** Returns the status with which to fail this request, or undefined to handle it. */
  fails: (method: string, path: string, query: URLSearchParams) => number | undefined
  /** Whether to carry out the request but drop the response. */
  loses: (method: string, path: string) => boolean
  /** Names of settings that the API accepts but does not store. */
  forgets: Set<string>
  /** Returns the X-Forwarded-For header after the platform's proxies have changed it. */
  forwarded: (sent: string | undefined) => string
  jobs: Json
  openDoors: string[]
  /** The number of sign-ins before the captcha takes effect. */
  lag: number
  stop: () => Promise<void>
}
