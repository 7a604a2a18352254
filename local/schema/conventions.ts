// The conventions of the schema. Each query returns the violations of one convention.
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

/**
 * Postgres declares these functions stable, because the text form of a time or number depends on settings. We
 * only pass text, codes, integers and, to the last function, dates in a single format, so settings do not
 * affect the results.
 */
const textOfSettings = `(
  'array_to_string', 'concat_ws', 'convert_to', 'format', 'json_build_object', 'jsonb_agg', 'jsonb_build_array',
  'jsonb_build_object', 'to_char', 'to_json', 'to_jsonb', 'pg_input_is_valid'
)`

/**
 * Volatile functions that a stable function may call. They return the time, set a local parameter
 * (set_config), read the server's state, sample rows (tablesample system) or estimate a number
 * (private.expected_listings).
 */
const calmEnough = `(
  'clock_timestamp', 'set_config', 'pg_is_in_recovery', 'pg_control_system', 'pg_database_size', 'system',
  'expected_listings'
)`

/** The bodies of functions that are declared stable or immutable, without their comments. */
const calmBodies = `
  select pg_proc.oid, provolatile,
    regexp_replace(coalesce(pg_get_function_sqlbody(pg_proc.oid), prosrc), '--[^\\n]*', '', 'g') as body
  from ${functions} and provolatile <> 'v'`

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
    // save_property updates every column, so `update of` a column does not mean that its value has changed.
    name: 'a trigger on properties that names columns compares each with what it was',
    query: `select format('%s on %s: %s', tgname, tgrelid::regclass, attname)
      from pg_trigger
      join pg_attribute on attrelid = tgrelid and attnum = any (tgattr)
      where tgrelid = 'public.properties'::regclass and not tgisinternal
        and not pg_get_triggerdef(pg_trigger.oid) ~ all (array[
          format('\\mold\\.%I\\M', attname), format('\\mnew\\.%I\\M', attname)
        ])`,
  },
  {
    // A body in standard SQL is parsed when the function is created, so later search_paths do not affect it.
    name: 'every function has a fixed search_path, or a body that needs none',
    query: `select pg_proc.oid::regprocedure::text from ${functions}
      and prosqlbody is null
      and not exists (select from unnest(proconfig) as one where one like 'search\\_path=%')`,
  },
  {
    // Functions named refuse… always raise an error, so no result depends on them.
    name: 'no function claims to be calmer than what it calls',
    query: `with calls as (
        select distinct bodies.oid, provolatile, coalesce(word[1], 'pg_catalog') as schema, word[2] as name
        from (${calmBodies}) as bodies
        cross join regexp_matches(body, '(?:\\m(\\w+)\\.)?\\m(\\w+)\\s*\\(', 'g') as word
      )
      select format('%s calls %s.%s', calls.oid::regprocedure, schema, name)
      from calls
      join pg_namespace on nspname = schema
      join pg_proc as called on called.pronamespace = pg_namespace.oid and called.proname = name
      where name !~ '^refuse(_field|_fields|_value|_by_hand)?$'
        and not (calls.provolatile = 's' and name in ${calmEnough})
        and not (schema = 'pg_catalog' and name in ${textOfSettings})
      group by calls.oid, calls.provolatile, schema, name
      -- Of several functions with one name, only the calmest is compared.
      having min(strpos('isv', called.provolatile::text)) > strpos('isv', calls.provolatile::text)`,
  },
  {
    name: 'no function that claims to be immutable reads a table',
    query: `select format('%s reads %s', bodies.oid::regprocedure, word[1])
      from (${calmBodies}) as bodies
      cross join regexp_matches(body,
        '\\m(?:from|join|into|update)\\s+((?:\\w+\\.|pg_)\\w+)(?!\\w|\\.|\\s*\\()', 'gi') as word
      where provolatile = 'i' and to_regclass(word[1]) is not null`,
  },
  {
    name: 'every list bounds the page that a caller asks for',
    query: `select pg_proc.oid::regprocedure::text from ${functions}
      and 'page_size' = any (proargnames)
      and prolang = (select oid from pg_language where lanname = 'plpgsql')
      and prosrc !~ 'private\\.(page_size|sorted_keys|list_my_properties)\\('
      and exists (
        select from aclexplode(proacl) where grantee in (0, 'anon'::regrole, 'authenticated'::regrole)
      )`,
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
    // An interrupted push leaves an invalid index, which slows down every write and speeds up no read.
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
    // docs/supabase-js.md and docs/triggers.md show these comments; other functions need none.
    name: 'every function of api and every trigger function has a comment',
    query: `select pg_proc.oid::regprocedure::text from ${functions}
      and (nspname = 'api' or prorettype = 'trigger'::regtype)
      and obj_description(pg_proc.oid, 'pg_proc') is null`,
  },
]

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
 * Returns the SQL functions whose bodies do not fit the schema, because bodies are not checked while sql/ is
 * loaded (build.ts). Replacing a function with itself makes Postgres check its body. Functions in plpgsql are
 * left out, because Postgres checks only their syntax (see plpgsql.ts).
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
      await client.query('rollback to savepoint one; release savepoint one')
    }
    await client.query('rollback')
    return unsound
  })
}
