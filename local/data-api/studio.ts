// Serves our own page for Studio. The page of @supabase/lite 0.10.0 always finds rows by `row.id`, even in
// tables with another key; it reads only 1,000 rows, and filters and sorts them in the browser.
import { readFile } from 'node:fs/promises'
import type { Sql } from 'postgres'
import { refusal, writeRow } from './studio-writes.ts'

type Fetch = (request: Request) => Response | Promise<Response>
type Named = { schema: string; name: string }
type Column = { schema: string; table: string; name: string; type: string; is_generated: boolean }
type Comment = { schema: string; table: string; column?: string; text: string }
type ForeignKey = {
  schema: string
  table: string
  column: string
  ref_schema?: string
  ref_table: string
  ref_column: string
}
type Catalogue = {
  tables: Named[]
  views: Named[]
  columns: Column[]
  primary_keys: { schema: string; table: string; columns: string[] }[]
  foreign_keys: ForeignKey[]
  comments: Comment[]
}

const pageFiles: Record<string, [file: string, type: string]> = {
  '/': ['studio.html', 'text/html'],
  '/studio.css': ['studio.css', 'text/css'],
  '/studio.js': ['studio.js', 'text/javascript'],
}

/** Serves the page, the list of tables and their rows. Other features of the package are not exposed. */
export async function answerStudio(request: Request, fetch: Fetch, sql: Sql): Promise<Response> {
  const { pathname } = new URL(request.url)
  const reads = request.method === 'GET' || request.method === 'HEAD'
  if (pathname.startsWith('/rest/v1/')) {
    return reads ? await asHex(await fetch(request)) : await writeRow(request, sql)
  }
  if (!reads) return refusal(405, 'method not allowed')
  if (pathname === '/tables') {
    const found = await fetch(new Request(new URL('/_system/introspect', request.url), request))
    return Response.json(tablesOf(await found.json() as Catalogue))
  }
  const [file, type] = pageFiles[pathname] ?? []
  if (!file) return refusal(404, 'not found')
  const text = await readFile(new URL(`page/${file}`, import.meta.url))
  return new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } })
}

/** Returns the tables and views for the page. A view has no key, so the page shows it read-only. */
export function tablesOf(found: Catalogue) {
  const commentOf = ({ schema, name }: Named, column?: string) =>
    found.comments.find((comment) =>
      comment.schema === schema && comment.table === name && comment.column === column
    )?.text
  const rowsOf = (table: Column) => {
    const key = found.foreign_keys.find(({ schema, table: name, column }) =>
      schema === table.schema && name === table.table && column === table.name
    )
    return key &&
      { schema: key.ref_schema ?? key.schema, name: key.ref_table, column: key.ref_column }
  }
  return [...found.tables, ...found.views]
    .filter(({ schema }) => schema !== 'extensions')
    .map((table) => ({
      schema: table.schema,
      name: table.name,
      comment: commentOf(table),
      key:
        found.primary_keys.find(({ schema, table: name }) =>
          schema === table.schema && name === table.name
        )?.columns ?? [],
      columns: found.columns
        .filter((column) => column.schema === table.schema && column.table === table.name)
        .map((column) => ({
          name: column.name,
          type: column.type,
          generated: column.is_generated,
          comment: commentOf(table, column.name),
          rows: rowsOf(column),
        })),
    }))
}

/** Converts bytea values, which the package returns as serialized Buffers, to the hex format of Postgres. */
async function asHex(answer: Response): Promise<Response> {
  const text = await answer.text()
  const { status, headers } = answer
  if (!text.includes('"type":"Buffer"')) return new Response(text || null, { status, headers })
  const rows = JSON.parse(
    text,
    (_name, value) =>
      value?.type === 'Buffer' && Array.isArray(value.data)
        ? `\\x${Buffer.from(value.data).toString('hex')}`
        : value,
  )
  return Response.json(rows, { status })
}
