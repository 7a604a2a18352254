import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
// An app installs the package (`npm run client:pack`). Here the package is taken from its source.
const client = here('../../client/src')

export default defineConfig({
  root: here('.'),
  // The local stack accepts requests from this origin; elsewhere it must be listed in CORS_ORIGINS.
  server: { port: 5173, strictPort: true, fs: { allow: [here('../..')] } },
  resolve: {
    alias: {
      'kuwait-property-client/chat': `${client}/chat/index.ts`,
      'kuwait-property-client': `${client}/index.ts`,
    },
  },
})
