/** Schemas of types that are written out elsewhere: they do not compile unless the two are the same. */
import type { z } from '@hono/zod-openapi'

/** As one object, however it was put together. */
type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T

/** The schema, if it takes exactly this type; else never. */
type Exact<Schema extends z.ZodType, Type> =
  (<T>() => T extends Plain<z.input<Schema>> ? 1 : 2) extends
    (<T>() => T extends Plain<Type> ? 1 : 2) ? Schema : never

export const schemaOf =
  <Type>() => <Schema extends z.ZodType>(schema: Schema & Exact<Schema, Type>): Schema => schema

/** The same for several, by name. */
export const schemasOf =
  <Types extends object>() =>
  <Schemas extends Record<keyof Types, z.ZodType>>(
    schemas: Schemas & { [Name in keyof Schemas]: Exact<Schemas[Name], Types[Name & keyof Types]> },
  ): Schemas => schemas
