// Everything that rooms import. A room is a section of the desk: the default export of
// `desk/<room>/room.tsx`, a component whose props are the `Place`.
export { signal, useSignal } from '@preact/signals'
export type { Input, Schemas } from 'kuwait-property-client'
export type { ComponentChildren } from 'preact'
export * from './api.ts'
export * from './format.ts'
export * from './forms.tsx'
export * from './keys.ts'
export * from './parts.tsx'
export * from './proof.tsx'
export * from './router.ts'
export * from './session.tsx'
export * from './words.ts'
