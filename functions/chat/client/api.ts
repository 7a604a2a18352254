/** The part of the REST facade that a chat client needs. */

export type ApiOptions = {
  /** `<project>/functions/v1/api` */
  url: string
  /** The token of the moment. */
  accessToken: () => string | Promise<string>
  fetch?: typeof fetch
}

export type Api = {
  get<T>(path: string): Promise<T>
  post<T>(path: string, body: unknown): Promise<T>
  accessToken(): Promise<string>
}

/** Refused, or not reached: then `code` is `connection`. */
export class ChatFailure extends Error {
  readonly code: string
  /** Seconds to wait before the next try. */
  readonly retryAfter?: number

  constructor(
    { code, message, retryAfter }: { code: string; message?: string; retryAfter?: number },
  ) {
    super(message ?? code)
    this.code = code
    this.retryAfter = retryAfter
  }

  /** Whether the same may succeed later. */
  get temporary(): boolean {
    return ['connection', 'service_unavailable', 'timeout', 'internal', 'rate_limited']
      .includes(this.code)
  }
}

export const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const pauses = [300, 1000, 2000, 4000, 7000]

/** Milliseconds until the next try: longer each time, and not the same for everybody. */
export const retryPause = (failures: number) =>
  pauses[Math.min(failures, pauses.length - 1)] * (0.75 + Math.random() / 2)

export function api(options: ApiOptions): Api {
  const accessToken = async () => await options.accessToken()
  async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
    const send = options.fetch ?? fetch
    let status: number
    let text: string
    try {
      const response = await send(options.url + path, {
        method,
        headers: {
          authorization: `Bearer ${await accessToken()}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body: body === undefined ? undefined : JSON.stringify(body),
      })
      status = response.status
      text = await response.text()
    } catch (error) {
      throw new ChatFailure({ code: 'connection', message: (error as Error).message })
    }
    const answer = text.startsWith('{') ? JSON.parse(text) : {}
    if (status < 300) return answer
    throw new ChatFailure(answer.error ?? { code: 'connection', message: `HTTP ${status}` })
  }
  return {
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    accessToken,
  }
}
