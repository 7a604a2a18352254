// Exports administrators' lists as CSV. A spreadsheet must not execute formulas that users have written.
import type { z } from '@hono/zod-openapi'
import type { ApiContext } from '../../_shared/caller/context.ts'
import { call } from '../../_shared/database/db.ts'
import { json, send } from '../http/route.ts'

const mostRows = 10_000
const pageSize = 50

/**
 * The columns of each list, as paths to fields. A path through an array collects the values of all its items.
 */
const columns = {
  users: [
    ...['id', 'fullName', 'phone', 'email', 'emailProven', 'status', 'statusReason'],
    ...['suspendedUntil', 'deleteAt', 'isAdmin', 'language', 'createdAt', 'lastSignInAt'],
    ...['identities.type', 'identities.displayName', 'identities.status'],
  ],
  moderation: [
    ...['id', 'kind', 'since', 'listing.refNo', 'listing.titleAr', 'listing.type', 'listing.kind'],
    ...['listing.areaId', 'listing.price', 'listing.owner.displayName', 'of.refNo', 'changes'],
    ...['identity.record.type', 'identity.record.nameAr', 'identity.record.licenceNo'],
    ...['identity.fullName', 'identity.phone', 'identity.email', 'report.targetType'],
    ...['report.targetId', 'report.reason', 'report.note', 'report.reporter.displayName'],
    ...['report.target.displayName', 'report.target.text', 'payout.amount', 'payout.name'],
    ...['payout.phone', 'payout.email', 'claimedBy.fullName'],
  ],
  audit: [
    ...['id', 'at', 'actor.id', 'actor.fullName', 'said.id', 'said.fullName', 'actorRole'],
    ...['action', 'targetType', 'targetId', 'reason', 'before', 'after'],
  ],
  payment_events: [
    ...['id', 'provider', 'eventKey', 'kind', 'paymentId', 'invoiceId', 'invoiceNumber'],
    ...['invoiceState', 'status', 'amount', 'currency', 'outcome', 'receivedAt', 'processedAt'],
  ],
}

export const jsonOrCsv = <T extends z.ZodType>(schema: T, description: string) => {
  const answer = json(schema, description)
  const csv = { 'text/csv': { schema: { type: 'string' } as const } }
  return { ...answer, content: { ...answer.content, ...csv } }
}

type Page = { pageCursor?: string; pageSize: number }

/**
 * Responds with a page as JSON or, if the Accept header begins with text/csv, with up to 10,000 rows as CSV.
 */
export async function sendList<Query extends { cursor?: string; limit: number }>(
  c: ApiContext,
  list: keyof typeof columns,
  { cursor, limit, ...filters }: Query,
  ask: (page: Omit<Query, 'cursor' | 'limit'> & Page) => Promise<string>,
) {
  if (!/^ *text\/csv\b/i.test(c.req.header('accept') ?? '')) {
    return send(c, await ask({ ...filters, pageCursor: cursor, pageSize: limit }))
  }
  await call(c, 'begin_export', { list, filters })
  const lines = [columns[list]]
  for (let next = cursor; lines.length <= mostRows;) {
    const page = JSON.parse(await ask({ ...filters, pageCursor: next, pageSize }))
    for (const item of page.items) {
      lines.push(columns[list].map((path) => textOf(valueAt(item, path.split('.')))))
    }
    if (!page.nextCursor) break
    next = page.nextCursor
  }
  const text = lines.map((cells) => `${cells.map(quote).join(',')}\r\n`).join('')
  // Without a byte order mark, spreadsheets misread Arabic.
  return new Response(`\uFEFF${text}`, {
    headers: {
      ...c.get('headers'),
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${list}.csv"`,
    },
  }) as never
}

function valueAt(value: unknown, [key, ...rest]: string[]): unknown {
  if (key === undefined || value === null || value === undefined) return value
  if (Array.isArray(value)) {
    return value.map((one) => textOf(valueAt(one, [key, ...rest]))).join(', ')
  }
  return valueAt((value as Record<string, unknown>)[key], rest)
}

const textOf = (value: unknown) =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
    ? JSON.stringify(value)
    : String(value)

const beginsFormula = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/
/**
 * Finds further places where a formula could begin if a spreadsheet splits at semicolons, tabs or line
 * breaks.
 */
const beforeFormula = /(?<![;\s"'])[;\s"']+(?=[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g
// Also matches phone numbers. Times never look like formulas.
const isNumber = /^[+-]?[0-9]+(\.[0-9]+)?$/

const guarded = (text: string) =>
  (beginsFormula.test(text) && !isNumber.test(text) ? `'${text}` : text)
    .replace(beforeFormula, (run) => /[;\t\r\n]/.test(run) ? `${run}'` : run)

const quote = (text: string) => `"${guarded(text).replaceAll('"', '""')}"`
