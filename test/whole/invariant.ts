export type Invariant = {
  id: string
  says: string
  sql: string
  /**
   * SQL that breaks the invariant in rows of invariants-planted.test.ts, in a transaction that is rolled
   * back. The check must report it.
   */
  plant?: string
}

/** Returns SQL that disables the triggers and constraints that would prevent or repair the violation. */
export const unguarded = (table: string, ...constraints: string[]) =>
  [
    `alter table ${table} disable trigger user;`,
    ...constraints.map((name) => `alter table ${table} drop constraint ${name};`),
  ].join('\n')
