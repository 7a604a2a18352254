import { defineConfig } from 'vite'

// The local stack accepts requests from this origin. For any other service, add it to CORS_ORIGINS there.
export default defineConfig({ base: './', server: { port: 5173, strictPort: true }, build: { target: 'es2022', chunkSizeWarningLimit: 1200 } })
