import { defineConfig } from 'vite'

// The local stack accepts requests from this origin; elsewhere it must be listed in CORS_ORIGINS.
export default defineConfig({ base: './', server: { port: 5173, strictPort: true }, build: { target: 'es2022', chunkSizeWarningLimit: 1200 } })
