// Builds the desk as it is deployed to a static host.
import { build } from 'vite'

/** The local stack accepts requests from this origin, and passkeys for `localhost` work there. */
export const deskOrigin = 'http://localhost:5174'

export type Files = Map<string, string | Uint8Array>
type Output = ({ fileName: string } & ({ code: string } | { source: string | Uint8Array }))[]

export async function buildDesk(service: string): Promise<Files> {
  Object.assign(process.env, { VITE_API: service })
  const built = await build({
    configFile: 'desk/vite.config.ts',
    logLevel: 'error',
    build: { write: false },
  })
  const { output } = [built].flat()[0] as { output: Output }
  return new Map(output.map((file) => [file.fileName, 'code' in file ? file.code : file.source]))
}

const types: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  mjs: 'text/javascript',
  css: 'text/css',
  wasm: 'application/wasm',
}

/** Returns the response of a static host to the request of a URL. */
export function answerOf(files: Files, url: string) {
  const name = new URL(url, deskOrigin).pathname.slice(1) || 'index.html'
  const body = files.get(name)
  const contentType = types[name.split('.').at(-1)!] ?? 'application/octet-stream'
  return body === undefined
    ? { status: 404, contentType: 'text/plain', body: Buffer.alloc(0) }
    : { status: 200, contentType, body: Buffer.from(body) }
}
