import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { databaseAt } from '../../local/schema/connection.ts'
import { root } from '../../local/config/settings.ts'

type Rate = { rule: string; max: number }

async function query<Row extends pg.QueryResultRow>(url: string, sql: string, values?: unknown[]) {
  const client = new pg.Client(databaseAt(url))
  await client.connect()
  try {
    await client.query(`set edits.by = 'tests'`)
    return (await client.query<Row>(sql, values)).rows
  } finally {
    await client.end()
  }
}

const put = 'update private.rates set max = given.max from ' +
  'jsonb_to_recordset($1::jsonb) as given (rule text, max integer) where given.rule = rates.rule'

export async function liftRates(url: string): Promise<() => Promise<void>> {
  const before = await query<Rate>(url, 'select rule, max from private.rates')
  await query(url, 'update private.rates set max = 1000000000 where true')
  return async () => {
    await query(url, put, [JSON.stringify(before)])
  }
}

export async function enforceRates(url: string, rates: Record<string, number>) {
  const rows = Object.entries(rates).map(([rule, max]) => ({ rule, max }))
  await query(url, put, [JSON.stringify(rows)])
  return async () => {
    await query(url, put, [JSON.stringify(rows.map(({ rule }) => ({ rule, max: 1_000_000_000 })))])
  }
}

export function defaultRates(...rules: RegExp[]): Record<string, number> {
  const [data = ''] = readFileSync(join(root, 'sql', '91_data.sql'), 'utf8')
    .split('insert into private.settings')
  const all = [...data.matchAll(/^ {2}\('(\w+)', (\d+), \d+,/gm)]
    .map(([, rule, max]) => [rule!, Number(max)] as const)
  return Object.fromEntries(all.filter(([rule]) => rules.some((one) => one.test(rule))))
}
