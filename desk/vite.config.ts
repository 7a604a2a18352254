import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, loadEnv, type Plugin } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const { VITE_API: service = 'http://127.0.0.1:54321' } = loadEnv('', here('.'), 'VITE_')
/** The Content Security Policy: what the page may load, and where it may send requests. */
const policy = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data: ORIGIN; \
connect-src 'self' ORIGIN; worker-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; \
require-trusted-types-for 'script'; trusted-types desk`.replaceAll('ORIGIN', new URL(service).origin)

const built: Plugin = {
  name: 'desk',
  apply: 'build',
  transformIndexHtml: (html) => html.replace('<meta charset="utf-8">', (charset) =>
    `${charset}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`),
  generateBundle() {
    // Fonts that documents use but do not embed, and decoders for scanned pages.
    for (const folder of ['standard_fonts', 'wasm']) {
      const from = here(`../node_modules/pdfjs-dist/${folder}`)
      for (const name of readdirSync(from).filter((name) => /\.(pfb|ttf|wasm|js)$/.test(name))) {
        this.emitFile({ type: 'asset', fileName: `papers/${name}`, source: readFileSync(`${from}/${name}`) })
      }
    }
  },
}

export default defineConfig({
  root: here('.'),
  base: './',
  envDir: false,
  define: { 'import.meta.env.VITE_API': JSON.stringify(service) },
  plugins: [built],
  // The local stack accepts requests from this origin. For any other service, add it to CORS_ORIGINS there.
  preview: { port: 5174, strictPort: true },
  build: { modulePreload: { polyfill: false }, assetsInlineLimit: 0, target: 'es2022' },
  // Other apps install the package (`npm run client:pack`). The desk uses its source.
  resolve: { alias: { 'kuwait-property-client': here('../client/src/index.ts') } },
})
