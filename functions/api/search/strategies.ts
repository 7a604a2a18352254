import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { validationError } from '../../_shared/input/validation.ts'
import { problem } from '../http/problem.ts'

const strategies = ['standard', 'exchange', 'auction', 'deal', 'company'] as const

export const Strategy = z.enum(strategies, { error: 'search_strategy_unknown' })
  .describe('Which listings are searched.')

type Result = { success: true } | { success: false; error: z.ZodError }

/** Refuses an unknown strategy with the list of existing ones. */
export function withStrategies(result: Result, c: ApiContext): undefined {
  if (result.success) return
  const [code, detail] = validationError(result.error)
  const unknown = detail.fields?.find((field) => field.code === 'search_strategy_unknown')
  if (!unknown) return problem(c, code, detail) as never
  const fields = [unknown]
  return problem(c, 'search_strategy_unknown', { fields, allowed: strategies }) as never
}
