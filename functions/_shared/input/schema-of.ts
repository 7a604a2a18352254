// Checks at compile time that a schema matches a type that is declared elsewhere.
import type { z } from '@hono/zod-openapi'

type Plain<T> = T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T

/** The type of the schema if its input is exactly `Type`, otherwise never. */
type Exact<Schema extends z.ZodType, Type> =
  (<T>() => T extends Plain<z.input<Schema>> ? 1 : 2) extends
    (<T>() => T extends Plain<Type> ? 1 : 2) ? Schema : never

export const schemaOf =
  <Type>() => <Schema extends z.ZodType>(schema: Schema & Exact<Schema, Type>): Schema => schema

export const schemasOf =
  <Types extends object>() =>
  <Schemas extends Record<keyof Types, z.ZodType>>(
    schemas: Schemas & { [Name in keyof Schemas]: Exact<Schemas[Name], Types[Name & keyof Types]> },
  ): Schemas => schemas
