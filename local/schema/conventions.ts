// Our conventions for sql/ that the advisors do not check. Each query returns the violations.
import { connected } from './build.ts'

type Convention = { name: string; query: string }

const ours = `('api', 'private', 'public')`

const functions = `
  pg_proc
  join pg_namespace on pg_namespace.oid = pronamespace and nspname in ${ours}
  where not exists (
    select from pg_depend
    where classid = 'pg_proc'::regclass and objid = pg_proc.oid and deptype = 'e'
  )`

const tables = `
  pg_class
  join pg_namespace on pg_namespace.oid = relnamespace and nspname in ${ours}
  where relkind in ('r', 'p')`

export const conventions: Convention[] = [
  {
    name: 'every table has row-level security',
    query: `select pg_class.oid::regclass::text from ${tables} and not relrowsecurity`,
  },
  {
    name: 'every table has a policy, a closed one a policy that denies everybody',
    query: `select pg_class.oid::regclass::text from ${tables}
      and not exists (select from pg_policy where polrelid = pg_class.oid)`,
  },
  {
    name:
      'where several triggers come before a row, one that changes it says whether their order matters',
    query: `select changing.tgname || ' on ' || changing.tgrelid::regclass
      from pg_trigger as changing
      join pg_class on pg_class.oid = changing.tgrelid
      -- Nobody but their owners comments on the tables of Supabase's services.
      join pg_namespace on pg_namespace.oid = relnamespace and nspname in ${ours}
      join pg_proc on pg_proc.oid = changing.tgfoid
      where not changing.tgisinternal and changing.tgtype & 3 = 3 and changing.tgname !~ '^[_~]'
        and prosrc ~ '\\mnew(\\.\\w+)? :=|\\minto (strict )?new\\M'
        and obj_description(changing.oid, 'pg_trigger') is null
        and exists (
          select from pg_trigger as other
          where other.tgrelid = changing.tgrelid and other.oid <> changing.oid
            and other.tgtype & 3 = 3 and other.tgtype & changing.tgtype & 28 <> 0
            and other.tgname !~ '^[_~]'
        )`,
  },
  {
    // A body of the SQL standard is read when the function is made, whatever the search_path then
    // is.
    name: 'every function has a fixed search_path, or a body that needs none',
    query: `select pg_proc.oid::regprocedure::text from ${functions}
      and prosqlbody is null
      and not exists (select from unnest(proconfig) as one where one like 'search\\_path=%')`,
  },
  {
    name: 'no function is open to everybody',
    query: `select pg_proc.oid::regprocedure::text from ${functions} and exists (
        select from aclexplode(coalesce(proacl, acldefault('f', proowner)))
        where grantee = 0 and privilege_type = 'EXECUTE'
      )`,
  },
  {
    name: "no function that clients call has its owner's rights",
    query: `select pg_proc.oid::regprocedure::text from ${functions}
      and nspname in ('api', 'public') and prosecdef`,
  },
  {
    name:
      "no view has its owner's rights, and there is nothing like a view that cannot ask for them",
    query: `select pg_class.oid::regclass::text from pg_class
      join pg_namespace on pg_namespace.oid = relnamespace and nspname in ${ours}
      where relkind in ('m', 'f') or relkind = 'v' and not coalesce(reloptions, '{}')
        && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1']`,
  },
  {
    name: 'guests write to no table, and users neither empty nor rule one',
    query: `select format('%s: %s to %s', pg_class.oid::regclass, privilege_type,
        coalesce(nullif(grantee, 0)::regrole::text, 'everybody'))
      from pg_class
      join pg_namespace on pg_namespace.oid = relnamespace and nspname in ${ours}
      cross join aclexplode(relacl)
      where relkind in ('r', 'p', 'v') and (
        grantee in (0, 'anon'::regrole) and privilege_type <> 'SELECT'
        or grantee = 'authenticated'::regrole
          and privilege_type not in ('SELECT', 'INSERT', 'UPDATE', 'DELETE')
      )`,
  },
  {
    name: 'guests write to no column',
    query: `select format('%s.%I', pg_class.oid::regclass, attname)
      from pg_attribute, ${tables} and attrelid = pg_class.oid and exists (
        select from aclexplode(attacl)
        where grantee in (0, 'anon'::regrole) and privilege_type <> 'SELECT'
      )`,
  },
  {
    // An index that an interrupted push leaves half made slows every write and helps no read.
    name: 'every index and constraint is valid',
    query: `select indexrelid::regclass::text from pg_index, ${tables}
        and pg_class.oid = indrelid and not indisvalid
      union all
      select format('%s on %s', conname, conrelid::regclass) from pg_constraint, ${tables}
        and pg_class.oid = conrelid and not convalidated`,
  },
  {
    name: 'every table has a comment',
    query: `select pg_class.oid::regclass::text from ${tables}
      and obj_description(pg_class.oid, 'pg_class') is null`,
  },
  {
    name: 'every function has a comment',
    query: `select pg_proc.oid::regprocedure::text from ${functions}
      and obj_description(pg_proc.oid, 'pg_proc') is null`,
  },
]

/** The violations of a convention, sorted. */
export function violations(url: string, { query }: Convention): Promise<string[]> {
  return connected(url, async (client) => {
    await client.query(`set search_path = ''`)
    const { rows } = await client.query<{ what: string }>(
      `select what from (${query}) as found (what) order by what collate "C"`,
    )
    return rows.map(({ what }) => what)
  })
}

type Body = { name: string; definition: string }

/**
 * Functions whose bodies do not fit the schema: while sql/ is loaded nobody looks into them, see
 * build.ts. Postgres looks again when a function is replaced by itself; for plpgsql it reads the
 * text only, so those are left to the tests.
 */
export function invalidBodies(url: string): Promise<string[]> {
  return connected(url, async (client) => {
    await client.query(`set search_path = ''`)
    const { rows } = await client.query<Body>(
      `select pg_proc.oid::regprocedure::text as name, pg_get_functiondef(pg_proc.oid) as definition
       from ${functions}
         and prokind = 'f' and prolang = (select oid from pg_language where lanname = 'sql')
       order by 1`,
    )
    const unsound: string[] = []
    await client.query('begin')
    for (const { name, definition } of rows) {
      await client.query('savepoint one')
      try {
        await client.query(definition)
      } catch (error) {
        unsound.push(`${name}: ${(error as Error).message}`)
      }
      await client.query('rollback to savepoint one')
    }
    await client.query('rollback')
    return unsound
  })
}
