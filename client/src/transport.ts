// Sends one request with fetch, or with XMLHttpRequest if progress is to be reported.
import { connectionError } from './errors.ts'
import { abortError } from './wait.ts'

export type Sent = {
  method: string
  url: string
  headers: Record<string, string>
  body?: string | FormData
  signal?: AbortSignal
  /** The timeout in milliseconds. */
  timeout: number
  /** Called with the fraction of the body that has been sent, from 0 to 1. */
  onProgress?: (part: number) => void
}

export type Received = {
  status: number
  header: (name: string) => string | null
  text: string
  /** The file, if the response is a file. `text` is empty then. */
  file?: Blob
}

const fileTypes = /^(image\/|application\/pdf|text\/csv)/

/** Sends a request. Rejects with the signal's reason, or with an ApiError `connection`. */
export function transmit(fetchWith: typeof fetch, sent: Sent): Promise<Received> {
  if (sent.signal?.aborted) return Promise.reject(abortError(sent.signal))
  if (sent.onProgress && typeof XMLHttpRequest !== 'undefined') return byXhr(sent)
  return byFetch(fetchWith, sent)
}

async function byFetch(fetchWith: typeof fetch, sent: Sent): Promise<Received> {
  const { method, url, headers, body, signal, timeout, onProgress } = sent
  // Some engines lack AbortSignal.any and AbortSignal.timeout.
  const attempt = new AbortController()
  const stop = () => attempt.abort()
  const timer = setTimeout(stop, timeout)
  signal?.addEventListener('abort', stop)
  try {
    const upload = onProgress && await watched(body as FormData, onProgress)
    const response = await fetchWith(url, {
      method,
      headers: { ...headers, ...upload?.headers },
      body: upload ? upload.body : body,
      signal: attempt.signal,
      ...(upload && { duplex: 'half' }),
    })
    const { status } = response
    const header = (name: string) => response.headers.get(name)
    if (status < 300 && fileTypes.test(header('content-type') ?? '')) {
      return { status, header, text: '', file: await response.blob() }
    }
    return { status, header, text: await response.text() }
  } catch (error) {
    if (signal?.aborted) throw abortError(signal)
    throw connectionError(attempt.signal.aborted ? 'timeout' : (error as Error).message)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** Turns a form into a stream that reports progress, for Node and Deno, which have no XMLHttpRequest. */
async function watched(form: FormData, onProgress: (part: number) => void) {
  const encoded = new Response(form)
  const headers = { 'content-type': encoded.headers.get('content-type')! }
  const whole = await encoded.blob()
  let sent = 0
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sent += chunk.byteLength
      controller.enqueue(chunk)
      onProgress(sent / whole.size)
    },
  })
  return { headers, body: whole.stream().pipeThrough(counter) }
}

function byXhr({ method, url, headers, body, signal, timeout, onProgress }: Sent) {
  return new Promise<Received>((resolve, reject) => {
    const request = new XMLHttpRequest()
    const stop = () => request.abort()
    request.open(method, url)
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value)
    request.timeout = timeout
    request.upload.onprogress = ({ loaded, total }) => onProgress?.(total ? loaded / total : 0)
    request.onload = () =>
      resolve({
        status: request.status,
        header: (name) => request.getResponseHeader(name),
        text: request.responseText,
      })
    request.onerror = () => reject(connectionError('The request failed.'))
    request.ontimeout = () => reject(connectionError('timeout'))
    request.onabort = () => reject(signal ? abortError(signal) : connectionError('aborted'))
    request.onloadend = () => signal?.removeEventListener('abort', stop)
    signal?.addEventListener('abort', stop)
    request.send(body)
  })
}
