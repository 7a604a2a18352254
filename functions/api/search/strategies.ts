import { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { invalid, problem } from '../http/problem.ts'

const strategies = ['standard', 'exchange', 'auction', 'deal', 'company'] as const

export const Strategy = z.enum(strategies, { error: 'search_strategy_unknown' })
  .describe('Which listings are searched.')

type Result = { success: true } | { success: false; error: z.ZodError }

/** Refuses an unknown strategy with the list of existing ones. */
export function withStrategies(result: Result, c: ApiContext): undefined {
  if (result.success) return
  const code = 'search_strategy_unknown'
  if (!result.error.issues.some(({ message }) => message === code)) {
    return invalid(c, result.error) as never
  }
  return problem(c, code, { fields: [{ path: 'strategy', code }], allowed: strategies }) as never
}
