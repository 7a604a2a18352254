import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasStack } from '../../../test/support/facade.ts'
import { variable } from '../../config/environment.ts'
import type { tablesOf } from '../studio.ts'

type Table = ReturnType<typeof tablesOf>[number]

export const studio: string = hasStack
  ? JSON.parse(readFileSync(join(variable('LOCAL_STACK')!, 'stack.json'), 'utf8')).studioUrl
  : ''

export const tables = async (): Promise<Table[]> => await (await fetch(`${studio}/tables`)).json()

export async function askRows(method: string, table: Table, query: string, values?: object) {
  const answer = await fetch(`${studio}/rest/v1/${table.name}?${query}`, {
    method,
    headers: {
      [method === 'GET' ? 'accept-profile' : 'content-profile']: table.schema,
      'content-type': 'application/json',
      prefer: 'return=representation',
    },
    body: values && JSON.stringify(values),
  })
  return { status: answer.status, body: await answer.json().catch(() => undefined) }
}
