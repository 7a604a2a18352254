// Postgres should inline SQL functions that consist of one expression; otherwise it
// plans them again at each call.
import { expect, test } from 'vitest'
import { database } from '../support/client.ts'

test('a function that is one expression is planned into what calls it', async () => {
  const { rows } = await database().query<{ name: string; types: string[] }>(
    `select format('%I.%I', nspname, proname) as name,
       array(select format_type(type, null) from unnest(proargtypes) as type) as types
     from pg_proc join pg_namespace on pg_namespace.oid = pronamespace
     where nspname in ('api', 'private') and prosqlbody is not null and not proretset
       and not prosecdef and pg_get_functiondef(pg_proc.oid) ~ '\\nRETURN '`,
  )
  expect(rows.length).toBeGreaterThan(40)
  const called = []
  for (const { name, types } of rows) {
    const columns = types.map((type, nth) => `null::${type} as a${nth}`).join(', ')
    const { rows: plan } = await database().query(
      `explain (verbose, costs off) select ${name}(${types.map((_, nth) => `a${nth}`).join(', ')})
       from (select ${columns || 1} offset 0) as given`,
    )
    if (plan.some((line) => line['QUERY PLAN'].includes(`${name}(`))) called.push(name)
  }
  // Postgres does not inline a function that is declared immutable but has a stable
  // body, or one that reads a table.
  expect(called).toEqual([])
})
