export type Invariant = {
  id: string
  says: string
  sql: string
  /**
   * SQL that breaks the invariant in the tables themselves, on rows of invariants-planted.test.ts, in a
   * transaction that is rolled back. The check must find it.
   */
  plant?: string
}

/** Returns SQL that disables the rules which would refuse or repair the fault. */
export const unguarded = (table: string, ...constraints: string[]) =>
  [
    `alter table ${table} disable trigger user;`,
    ...constraints.map((name) => `alter table ${table} drop constraint ${name};`),
  ].join('\n')
