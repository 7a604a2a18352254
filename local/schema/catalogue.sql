-- Describes everything in a database and its roles, in one row per object and without object ids.
-- Two databases are the same if these rows are the same. Supabase's objects are included, because
-- both databases have them; built-in objects of Postgres (ids under 16384) are not. The order of
-- columns is left out, because a column that is added later always comes last.
with
-- A null ACL means the default privileges (acldefault), unlike an empty ACL.
grants(kind, object, acl) as (
  select 'schema', nspname::text, coalesce(nspacl, acldefault('n', nspowner)) from pg_namespace
  union all
  select 'relation', oid::regclass::text,
    coalesce(relacl, acldefault(case relkind when 'S' then 's'::"char" else 'r' end, relowner))
  from pg_class where relkind in ('r', 'v', 'm', 'S', 'f', 'p')
  union all
  select 'function', oid::regprocedure::text, coalesce(proacl, acldefault('f', proowner))
  from pg_proc where oid >= 16384
  union all
  select 'type', oid::regtype::text, coalesce(typacl, acldefault('T', typowner)) from pg_type
  where oid >= 16384 and typrelid = 0 and typelem = 0
),
things(kind, object, definition) as (
  select 'schema', nspname::text, pg_get_userbyid(nspowner)::text from pg_namespace
  union all
  select 'extension', extname::text, extnamespace::regnamespace::text from pg_extension

  union all
  select
    case relkind
      when 'v' then 'view' when 'm' then 'materialized view' when 'c' then 'composite type'
      when 'f' then 'foreign table' else 'table'
    end,
    oid::regclass::text,
    concat_ws(
      ' ', pg_get_userbyid(relowner), 'persistence', relpersistence,
      'replica identity', relreplident,
      case when relrowsecurity then 'rls' end, case when relforcerowsecurity then 'forced' end,
      (select string_agg(option, ' ' order by option) from unnest(reloptions) as option),
      pg_get_partkeydef(oid), pg_get_expr(relpartbound, oid),
      case when relkind in ('v', 'm') then pg_get_viewdef(oid) end
    )
  from pg_class where relkind in ('r', 'v', 'm', 'c', 'f', 'p')
  union all
  select
    'column', format('%s.%I', attrelid::regclass, attname),
    concat_ws(
      ' ', format_type(atttypid, atttypmod), case when attnotnull then 'not null' end,
      case attidentity when 'a' then 'identity always' when 'd' then 'identity' end,
      case when attgenerated <> '' then 'generated' end, pg_get_expr(adbin, adrelid),
      case when attcollation <> typcollation then 'collate ' || attcollation::regcollation end,
      'grants', (select string_agg(item::text, ' ' order by item::text) from unnest(attacl) as item)
    )
  from pg_attribute
  join pg_class on pg_class.oid = attrelid and relkind in ('r', 'v', 'm', 'c', 'f', 'p')
  join pg_type on pg_type.oid = atttypid
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where attnum > 0 and not attisdropped
  union all
  select
    'sequence', seqrelid::regclass::text,
    concat_ws(
      ' ', format_type(seqtypid, null), seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle,
      (
        select format('owned by %s.%I', refobjid::regclass, attname)
        from pg_depend
        join pg_attribute on attrelid = refobjid and attnum = refobjsubid
        where classid = 'pg_class'::regclass and objid = seqrelid and deptype in ('a', 'i')
          and refobjsubid > 0
      )
    )
  from pg_sequence
  union all
  select 'index', indexrelid::regclass::text,
    concat_ws(' ', pg_get_indexdef(indexrelid), case when not indisvalid then 'invalid' end)
  from pg_index
  union all
  select 'constraint',
    format(
      '%s %I',
      case when conrelid <> 0 then conrelid::regclass::text else contypid::regtype::text end,
      conname
    ),
    concat_ws(' ', pg_get_constraintdef(oid), case when not convalidated then 'not valid' end)
  from pg_constraint
  union all
  select 'trigger', format('%s %I', tgrelid::regclass, tgname),
    concat_ws(' ', pg_get_triggerdef(oid), 'enabled', tgenabled)
  from pg_trigger where not tgisinternal
  union all
  select 'policy', format('%s %I', polrelid::regclass, polname),
    concat_ws(
      ' ', case when polpermissive then 'permissive' else 'restrictive' end, polcmd, 'to', (
        select string_agg(
          coalesce(nullif(role, 0)::regrole::text, 'public'), ', ' order by role::regrole::text
        )
        from unnest(polroles) as role
      ),
      'using', pg_get_expr(polqual, polrelid), 'check', pg_get_expr(polwithcheck, polrelid)
    )
  from pg_policy
  union all
  select 'rule', format('%s %I', ev_class::regclass, rulename), pg_get_ruledef(oid)
  from pg_rewrite where rulename <> '_RETURN'

  union all
  select 'function', oid::regprocedure::text,
    concat_ws(
      E'\n', pg_get_userbyid(proowner), case when prokind <> 'a' then pg_get_functiondef(oid) end
    )
  from pg_proc where oid >= 16384
  union all
  select 'type', oid::regtype::text,
    concat_ws(
      ' ', pg_get_userbyid(typowner), typtype, case when typnotnull then 'not null' end,
      case when typtype = 'd' then format_type(typbasetype, typtypmod) end, typdefault,
      (
        select string_agg(enumlabel, ', ' order by enumsortorder)
        from pg_enum where enumtypid = pg_type.oid
      ),
      (select format_type(rngsubtype, null) from pg_range where rngtypid = pg_type.oid)
    )
  from pg_type where oid >= 16384 and typtype in ('d', 'e', 'r')
  union all
  select 'statistics', format('%s.%I', stxnamespace::regnamespace, stxname),
    pg_get_statisticsobjdef(oid)
  from pg_statistic_ext
  union all
  select 'text search configuration', oid::regconfig::text, (
    select string_agg(
      concat(maptokentype, ' ', mapdict::regdictionary), ', ' order by maptokentype, mapseqno
    )
    from pg_ts_config_map where mapcfg = pg_ts_config.oid
  ) from pg_ts_config where oid >= 16384
  union all
  select 'text search dictionary', oid::regdictionary::text, dictinitoption
  from pg_ts_dict where oid >= 16384
  union all
  select 'cast', format('%s to %s', castsource::regtype, casttarget::regtype),
    concat_ws(' ', castcontext, castmethod, nullif(castfunc, 0)::regprocedure)
  from pg_cast where oid >= 16384
  union all
  select 'operator', oid::regoperator::text, oprcode::regprocedure::text from pg_operator
  where oid >= 16384
  union all
  select 'event trigger', evtname::text,
    concat_ws(' ', evtevent, evtfoid::regprocedure, evtenabled, evttags)
  from pg_event_trigger
  union all
  select 'publication', pubname::text,
    concat_ws(' ', puballtables, pubinsert, pubupdate, pubdelete, pubtruncate, pubviaroot)
  from pg_publication
  union all
  select 'publication', format('%I of %s', pubname, prrelid::regclass),
    concat_ws(' ', pg_get_expr(prqual, prrelid), prattrs)
  from pg_publication_rel join pg_publication on pg_publication.oid = prpubid

  union all
  select 'grants on ' || kind, object,
    (select string_agg(item::text, ' ' order by item::text) from unnest(acl) as item)
  from grants
  union all
  select 'default grants',
    format(
      '%s in %s for %s', defaclobjtype,
      coalesce(nullif(defaclnamespace, 0)::regnamespace::text, 'any schema'),
      defaclrole::regrole
    ),
    (select string_agg(item::text, ' ' order by item::text) from unnest(defaclacl) as item)
  from pg_default_acl

  union all
  select 'comment', format('on %s %s', type, identity), description
  from pg_description, pg_identify_object(classoid, objoid, objsubid)

  union all
  select 'role', rolname::text,
    concat_ws(
      ' ', case when rolsuper then 'superuser' end, case when rolinherit then 'inherit' end,
      case when rolcreaterole then 'createrole' end, case when rolcreatedb then 'createdb' end,
      case when rolcanlogin then 'login' end, case when rolreplication then 'replication' end,
      case when rolbypassrls then 'bypassrls' end, 'connections', rolconnlimit,
      rolvaliduntil
    )
  from pg_roles
  union all
  select 'role setting',
    concat_ws(' ', coalesce(pg_get_userbyid(nullif(setrole, 0))::text, 'everybody'),
      case when setdatabase <> 0 then 'in this database' end),
    (select string_agg(setting, ', ' order by setting) from unnest(setconfig) as setting)
  from pg_db_role_setting
  where setdatabase in (0, (select oid from pg_database where datname = current_database()))
  union all
  select 'membership', format('%s in %s', member::regrole, roleid::regrole),
    string_agg(
      concat_ws(
        ' ', case when admin_option then 'admin' end, case when inherit_option then 'inherit' end,
        case when set_option then 'set' end, 'by', grantor::regrole
      ),
      ', ' order by grantor::regrole::text
    )
  from pg_auth_members group by member, roleid
)
select kind, object, coalesce(definition, '') as definition
from things
-- Only one of the two databases has the table of applied migrations.
where object not like all (
    array['pg\_%', 'supabase\_migrations%', '%pg\_toast%', 'information\_schema%']
  )
  and not (
    kind = 'comment'
    and object ~ ' (pg_catalog|information_schema|supabase_migrations|pg_toast)[. ]'
  )
order by kind collate "C", object collate "C", definition collate "C"
