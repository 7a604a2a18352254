import { expect, test } from 'vitest'
import { type Arrow, arrowsIn, faults, isUp } from './arrows.ts'
import { type Exceptions, exceptions } from './arrows-up.ts'

const base = { name: '01_base/1_tables.sql', text: 'create domain private.kwd as numeric;' }
const late = {
  name: '02_late/5_writes.sql',
  text: 'create table private.rows (id uuid);\n' +
    'create view public.shown with (security_invoker = true) as select * from private.rows;\n' +
    'create or replace function private.late() returns void\n  language sql as $$ select 1 $$;\n',
}

const upOf = (text: string) =>
  arrowsIn([base, { name: '01_base/5_writes.sql', text }, late]).filter(isUp)
    .map(({ kind, what, file, line }) => `${kind} ${what} ${file}:${line}`)

test('a use of a later folder is found, wherever it stands', () => {
  const calls = (line: number) => [`calls private.late 01_base/5_writes.sql:${line}`]
  const uses = (what: string) => [`tables ${what} 01_base/5_writes.sql:1`]
  expect(upOf('create function private.f() as $$\nbegin\n  perform private.late();\nend $$'))
    .toEqual(calls(3))
  expect(upOf('create trigger t after insert on x execute function private.late ();')).toEqual(
    calls(1),
  )
  expect(upOf('grant execute on function private.late to backend;')).toEqual(calls(1))
  expect(upOf('declare one private.rows;')).toEqual(uses('private.rows'))
  expect(upOf('declare many private.rows[];')).toEqual(uses('private.rows'))
  expect(upOf('insert into private.rows (id) values (null)')).toEqual(uses('private.rows'))
  expect(upOf('select from public.shown')).toEqual(uses('public.shown'))
})

test('a use in SQL that is put together when it runs is found, where its name is whole', () => {
  expect(upOf(`execute 'select ' || 'private.late()';`)).toHaveLength(1)
  expect(upOf('execute $sql$ select from private.rows $sql$;')).toHaveLength(1)
  expect(upOf(`execute format('select private.%I()', 'late');`)).toEqual([])
})

test('what only speaks of a later folder is none', () => {
  expect(upOf('-- see private.late(), whose rows\n/* private.late() */')).toEqual([])
  expect(
    upOf(`comment on function private.f() is\n  'As private.late(); '\n  'it''s private.rows';`),
  )
    .toEqual([])
  // A string that contains -- is not a comment, and an apostrophe in a comment does not begin a string.
  expect(upOf(`select '--', private.late();`)).toHaveLength(1)
  expect(upOf(`-- it's so\nselect private.late(); -- isn't it`)).toHaveLength(1)
  expect(upOf(`comment on table x is 'y';\nselect private.late();`)).toHaveLength(1)
})

test('a folder below, the own folder and what nobody defines are none', () => {
  expect(upOf('select 1::private.kwd')).toEqual([])
  expect(upOf('create function private.late();\nselect private.late()')).toEqual([])
  expect(upOf(`select set_config('private.acts', 't', true), private.nobody()`)).toEqual([])
  const down = arrowsIn([base, { ...late, text: `${late.text} select 1::private.kwd` }])
  expect(down.map(({ from, to, what }) => ({ from, to, what })))
    .toEqual([{ from: '02_late', to: '01_base', what: 'private.kwd' }])
  expect(down.filter(isUp)).toEqual([])
})

test('folders of one number have an order, that of loading', () => {
  const files = [
    { name: '08_feed/1.sql', text: 'create function private.fed();' },
    { name: '08_search/1.sql', text: 'create function private.found(); select private.fed()' },
  ]
  expect(arrowsIn(files).filter(isUp)).toEqual([])
  files[0]!.text += ' select private.found()'
  expect(arrowsIn(files).filter(isUp)).toHaveLength(1)
})

const one: Arrow = {
  kind: 'calls',
  from: '01_base',
  to: '02_late',
  what: 'private.late',
  file: '01_base/5_writes.sql',
  line: 7,
}
const listing = (uses: number, why = 'because'): Exceptions => ({
  calls: [{ from: '01_base', to: '02_late', what: { 'private.late': uses }, why }],
  tables: [],
})

test('what is not listed fails by its place; so do one more, one less and no reason', () => {
  expect(faults([one], listing(1))).toEqual([])
  expect(faults([one], { calls: [], tables: [] })).toEqual([
    'sql/01_base/5_writes.sql:7 calls private.late of 02_late, a later folder',
  ])
  expect(faults([{ ...one, what: 'private.other' }, one], listing(1))).toEqual([
    'sql/01_base/5_writes.sql:7 calls private.other of 02_late, a later folder',
  ])
  // Tables and functions are listed separately, even if they have the same name.
  expect(faults([one, { ...one, kind: 'tables' }], listing(1))).toEqual([
    'sql/01_base/5_writes.sql:7 uses private.late of 02_late, a later folder',
  ])
  expect(faults([one, { ...one, line: 9 }], listing(1))).toEqual([
    '01_base -> 02_late: 1 of private.late are listed, there are 2 ' +
    '(sql/01_base/5_writes.sql:7, sql/01_base/5_writes.sql:9)',
  ])
  expect(faults([], listing(1))).toEqual([
    '01_base -> 02_late: 1 of private.late are listed, there are 0',
  ])
  expect(faults([one], listing(1, ' '))).toEqual(['01_base -> 02_late: there is no reason'])
  // Uses of an earlier folder are always allowed.
  expect(faults([{ ...one, from: '02_late', to: '01_base' }], { calls: [], tables: [] })).toEqual(
    [],
  )
})

test('12 calls and 67 uses of tables of later folders are excused at most', () => {
  const sum = (kind: keyof Exceptions) =>
    exceptions[kind].flatMap(({ what }) => Object.values(what)).reduce((all, one) => all + one, 0)
  expect(sum('calls')).toBeLessThanOrEqual(12)
  expect(sum('tables')).toBeLessThanOrEqual(67)
})
