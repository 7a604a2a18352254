// For `npm run example`: runs examples/web with the client from this repository instead of the npm package.
import { fileURLToPath } from 'node:url'
import { defineConfig, mergeConfig } from 'vite'
import own from './web/vite.config.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const client = here('../client/src')

export default mergeConfig(
  own,
  defineConfig({
    root: here('web'),
    server: { fs: { allow: [here('..')] } },
    resolve: {
      alias: {
        'kuwait-property-client/chat': `${client}/chat/index.ts`,
        'kuwait-property-client': `${client}/index.ts`,
      },
    },
  }),
)
