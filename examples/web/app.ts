// Everything that pages import from the app and from Preact.
export * from 'preact/hooks'
export * from './router.ts'
export * from './service.ts'
export * from './ui.tsx'
export * from './words.ts'
