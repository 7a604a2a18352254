// FormData as in React Native: `append` takes text or `{ uri, name, type }`, other methods are missing, and
// native code reads the files when it sends the request.

type File = { uri: string; name?: string; type?: string }
type NativePart = Partial<File> & { string?: string; headers: Record<string, string> }
type Init = RequestInit & { headers?: Record<string, string> }

class NativeForm {
  private readonly parts: [string, unknown][] = []

  append(name: string, value: unknown): void {
    this.parts.push([name, value])
  }

  getParts(): NativePart[] {
    return this.parts.map(([name, value]) => {
      const disposition = `form-data; name="${name}"`
      if (typeof value !== 'object' || value === null) {
        return { string: String(value), headers: { 'content-disposition': disposition } }
      }
      const { name: fileName, type } = value as File
      const file = fileName === undefined ? '' : `; filename="${encodeURIComponent(fileName)}"`
      const headers = {
        'content-disposition': disposition + file,
        ...(type !== undefined && { 'content-type': type }),
      }
      return { ...value, headers }
    })
  }
}

const boundary = 'from-the-phone'

/** Encodes the form as a request body; throws for an invalid part or a missing file. */
function encoded(form: NativeForm, files: Map<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const pieces = form.getParts().flatMap(({ string, uri, headers: own }) => {
    const content = string === undefined ? files.get(uri ?? '') : Buffer.from(string)
    if (!content) throw new TypeError('Unrecognized part')
    const headers = { ...own, 'content-length': String(content.length) }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    return [Buffer.from(`--${boundary}\r\n${lines.join('')}\r\n`), content, Buffer.from('\r\n')]
  })
  return new Uint8Array(Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]))
}

export function nativeForms(files: Map<string, Uint8Array>) {
  const sent: { by: 'fetch' | 'XMLHttpRequest'; parts: unknown[] }[] = []

  function send(by: 'fetch' | 'XMLHttpRequest', url: string, { body, headers, ...init }: Init) {
    const form: unknown = body
    if (!(form instanceof NativeForm)) return fetch(url, { ...init, headers, body })
    sent.push({ by, parts: form.getParts() })
    const type = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    return fetch(url, { ...init, headers: { ...headers, ...type }, body: encoded(form, files) })
  }

  class Request {
    readonly upload: { onprogress?: (event: { loaded: number; total: number }) => void } = {}
    status = 0
    responseText = ''
    timeout = 0
    onload?: () => void
    onerror?: () => void
    onloadend?: () => void
    private readonly headers: Record<string, string> = {}
    private answer: Response | undefined
    private target = { method: '', url: '' }

    open(method: string, url: string) {
      this.target = { method, url }
    }

    setRequestHeader(name: string, value: string) {
      this.headers[name] = value
    }

    getResponseHeader(name: string) {
      return this.answer?.headers.get(name) ?? null
    }

    async send(body: unknown) {
      const { method, url } = this.target
      try {
        const init = { method, headers: this.headers, body: body as BodyInit }
        this.answer = await send('XMLHttpRequest', url, init)
        this.upload.onprogress?.({ loaded: 1, total: 1 })
        this.status = this.answer.status
        this.responseText = await this.answer.text()
        this.onload?.()
      } catch {
        this.onerror?.()
      }
      this.onloadend?.()
    }
  }

  return {
    sent,
    globals: {
      FormData: NativeForm,
      XMLHttpRequest: Request,
      fetch: (url: string, init: Init) => send('fetch', url, init),
    },
  }
}
