import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { validationError } from '../../_shared/input/validation.ts'
import { problem } from '../http/problem.ts'
import { type Case, never, otherThan } from '../http/together.ts'

const strategies = ['standard', 'exchange', 'auction', 'deal', 'company'] as const

export const Strategy = z.enum(strategies, { error: 'search_strategy_unknown' })
  .describe('Which listings are searched.')

const filters: Case[] = [
  { companyId: {}, strategy: otherThan('company') },
  { requestYearMin: {}, strategy: otherThan('exchange') },
  { requestYearMax: {}, strategy: otherThan('exchange') },
]
const orders: Case[] = [
  { sort: { enum: ['drop_desc'] }, strategy: otherThan('deal') },
  { sort: { enum: ['ends_at'] }, strategy: otherThan('auction') },
  { sort: { enum: ['distance'] }, near: null },
]

/** Rules that forbid filters and sort orders in strategies that do not support them. */
export const filtersOfOne = never(...filters)
export const filtersAndOrdersOfOne = never(...filters, ...orders)

type Result = { success: true } | { success: false; error: z.ZodError }

/** Refuses an unknown strategy and lists the existing ones. */
export function withStrategies(result: Result, c: ApiContext): undefined {
  if (result.success) return
  const [code, detail] = validationError(result.error)
  const unknown = detail.fields?.find((field) => field.code === 'search_strategy_unknown')
  if (!unknown) return problem(c, code, detail) as never
  const fields = [unknown]
  return problem(c, 'search_strategy_unknown', { fields, allowed: strategies }) as never
}
