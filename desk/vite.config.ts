import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const service = process.env.VITE_API ?? 'http://127.0.0.1:54321'

/** What the page may load and where it may send. Only the development server has exceptions, for itself. */
function policy(isBuilt: boolean): string {
  const { origin } = new URL(service)
  const trusted = `require-trusted-types-for 'script'; trusted-types desk`
  return `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data: ${origin}; ` +
    `connect-src 'self' ${origin}${isBuilt ? '' : ' ws://localhost:5174'}; worker-src 'self'; font-src 'self'; ` +
    `form-action 'none'; base-uri 'none'${isBuilt ? `; ${trusted}` : ''}`
}

const contentSecurity: Plugin = {
  name: 'content-security',
  transformIndexHtml(html, { server }) {
    const meta = `<meta http-equiv="Content-Security-Policy" content="${policy(!server)}">`
    return html.replace('<meta charset="utf-8">', (charset) => `${charset}\n    ${meta}`)
  },
}

/** Fonts that papers name without having them, and decoders of scanned pages. */
const paperFiles = ['standard_fonts', 'wasm'].flatMap((folder) => {
  const from = here(`../node_modules/pdfjs-dist/${folder}`)
  return readdirSync(from).filter((name) => /\.(pfb|ttf|wasm|js)$/.test(name))
    .map((name) => ({ fileName: `papers/${name}`, path: `${from}/${name}` }))
})
const types: Record<string, string> = { js: 'text/javascript', wasm: 'application/wasm' }
const papers: Plugin = {
  name: 'papers',
  generateBundle() {
    for (const { fileName, path } of paperFiles) this.emitFile({ type: 'asset', fileName, source: readFileSync(path) })
  },
  configureServer({ middlewares }) {
    middlewares.use((request, response, next) => {
      const file = paperFiles.find(({ fileName }) => request.url === `/${fileName}`)
      if (!file) return next()
      response.setHeader('content-type', types[file.path.split('.').at(-1)!] ?? 'font/ttf')
      createReadStream(file.path).pipe(response)
    })
  },
}

// The local stack accepts requests from this origin; elsewhere it must be listed in CORS_ORIGINS.
const server = { port: 5174, strictPort: true }

export default defineConfig({
  root: here('.'),
  base: './',
  envDir: false,
  define: { 'import.meta.env.VITE_API': JSON.stringify(service) },
  plugins: [contentSecurity, papers],
  server: { ...server, fs: { allow: [here('..')] } },
  preview: server,
  build: {
    outDir: here('dist'), emptyOutDir: true, modulePreload: { polyfill: false }, assetsInlineLimit: 0,
    target: 'es2022', chunkSizeWarningLimit: 1500,
  },
  // An app installs the package (`npm run client:pack`). Here the package is taken from its source.
  resolve: { alias: { 'kuwait-property-client': here('../client/src/index.ts') } },
})
