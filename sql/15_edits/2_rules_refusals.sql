create function private.broken_rule(relation regclass, given jsonb, before jsonb) returns text
  language plpgsql stable set search_path = ''
as $$
declare
  rule record;
  holds boolean;
begin
  for rule in
    select
      case contype when 'c' then format('select %s from jsonb_populate_record(null::%s, $1)',
          pg_get_expr(conbin, conrelid), relation)
        else format('select exists (select from %s as other where %s)',
          confrelid::regclass, columns.found)
      end as query,
      columns.names || case contype
        when 'c' then format(' does not fit, %s: %s', replace(conname, '_', ' '),
          pg_get_expr(conbin, conrelid))
        else format(' is none of %s: add it there first', confrelid::regclass)
      end as sentence
    from pg_catalog.pg_constraint
    cross join lateral (
      select
        string_agg(own.attname, ', ' order by ordinal) as names,
        string_agg(format('other.%I::text = $1 ->> %L', coalesce(theirs.attname, own.attname),
          own.attname), ' and ') as found,
        bool_or(given ->> own.attname is null) as partial,
        bool_and(given -> own.attname = before -> own.attname) as unchanged
      from unnest(conkey) with ordinality as key (attnum, ordinal)
      join pg_catalog.pg_attribute as own on own.attrelid = relation and own.attnum = key.attnum
      left join pg_catalog.pg_attribute as theirs
        on theirs.attrelid = confrelid and theirs.attnum = confkey[ordinal]
    ) as columns
    where conrelid = relation and columns.unchanged is not true
      and (contype = 'c' or contype = 'f' and not columns.partial)
    union all
    select
      format(
        'with given as ('
          'select jsonb_build_array(%1$s) as new_key from jsonb_populate_record(null::%2$s, $1) '
          'where %3$s'
        '), before as ('
          'select jsonb_build_array(%1$s) as old_key from jsonb_populate_record(null::%2$s, $2)'
        ') select not exists (select from %2$s, given, before where %3$s '
          'and jsonb_build_array(%1$s) = new_key '
          'and not new_key @> ''null'' and new_key <> old_key)',
        columns.keys, relation, coalesce(pg_get_expr(indpred, indrelid), 'true')),
      columns.keys || ' is taken by another row'
    from pg_catalog.pg_index
    cross join lateral (
      select string_agg(pg_get_indexdef(indexrelid, nth, true), ', ' order by nth) as keys
      from generate_series(1, indnkeyatts) as nth
    ) as columns
    where indrelid = relation and indisunique
  loop
    execute rule.query into holds using given, before;
    if not holds then
      return rule.sentence;
    end if;
  end loop;
  return (
    select attname || ' is missing: fill it in'
    from pg_catalog.pg_attribute
    where attrelid = relation and attnum > 0 and attnotnull and attgenerated = ''
      and atttypid <> 'jsonb'::regtype -- JSON null is a value, but looks like NULL here
      and given ->> attname is null
    order by attnum
    limit 1
  );
end
$$;
comment on function private.broken_rule is
  'Returns a sentence that explains the first rule that a row breaks, or null. The error of '
  'Postgres would show the name of a constraint and the whole row instead.';

create function private.explain_refusal() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  stack text;
  sentence text;
begin
  get diagnostics stack = pg_context;
  if private.is_by_hand(stack) then
    sentence := private.broken_rule(
      tg_relid, to_jsonb(new), case tg_op when 'UPDATE' then to_jsonb(old) end);
    if sentence is not null then
      perform private.refuse_by_hand(format('Not saved: %s.', sentence));
    end if;
  end if;
  return new;
end
$$;
comment on function private.explain_refusal is
  'Refuses a row that breaks a rule, with a message that explains the rule.';
