-- The table through which the database sends Realtime messages; it has a partition for each day.

create schema if not exists realtime;
grant usage on schema realtime to anon, authenticated, service_role;
grant usage on schema realtime to postgres with grant option;
grant usage, create on schema realtime to supabase_realtime_admin;

create table if not exists realtime.messages (
  topic text not null,
  extension text not null,
  payload jsonb,
  event text,
  private boolean default false,
  updated_at timestamp not null default now(),
  inserted_at timestamp not null default now(),
  id uuid not null default gen_random_uuid(),
  binary_payload bytea,
  primary key (id, inserted_at)
) partition by range (inserted_at);
create index if not exists messages_inserted_at_topic_index
  on realtime.messages (inserted_at desc, topic)
  where extension = 'broadcast' and private is true;
alter table realtime.messages owner to supabase_realtime_admin;
alter table realtime.messages enable row level security;
grant all on realtime.messages to postgres;
grant select, insert, update on realtime.messages to anon, authenticated, service_role;

-- The constraint is not validated, because a data folder of an earlier version may have rows.
do $$
begin
  if not exists (select from pg_constraint where conname = 'messages_payload_exclusive') then
    alter table realtime.messages add constraint messages_payload_exclusive
      check (payload is null or binary_payload is null) not valid;
  end if;
end
$$;

create or replace function realtime.ensure_partitions() returns void
  language plpgsql
  set timezone = 'UTC'
as $$
declare
  day date;
  old text;
begin
  for day in
    select generate_series(current_date - 1, current_date + 3, interval '1 day')::date
  loop
    if to_regclass(format('realtime.messages_%s', to_char(day, 'YYYY_MM_DD'))) is null then
      execute format(
        'create table realtime.%I partition of realtime.messages for values from (%L) to (%L)',
        'messages_' || to_char(day, 'YYYY_MM_DD'), day, day + 1
      );
      execute format(
        'alter table realtime.%I owner to supabase_realtime_admin',
        'messages_' || to_char(day, 'YYYY_MM_DD')
      );
    end if;
  end loop;
  for old in
    select inhrelid::regclass from pg_inherits
    where inhparent = 'realtime.messages'::regclass
      and inhrelid::regclass::text
        < format('realtime.messages_%s', to_char(current_date - 3, 'YYYY_MM_DD'))
  loop
    execute format('drop table %s', old);
  end loop;
end
$$;
comment on function realtime.ensure_partitions() is
  'Creates the partitions from yesterday to three days ahead and drops those older than 72 hours.';
revoke execute on function realtime.ensure_partitions() from public;

create or replace function realtime.topic() returns text
  language sql
  stable
as $$
  select nullif(current_setting('realtime.topic', true), '')
$$;

-- As on hosted projects, an error becomes a warning, so that a failed message never rolls back the
-- transaction.
create or replace function realtime.send(
  payload jsonb, event text, topic text, private boolean default true
) returns void
  language plpgsql
as $$
declare
  message_id uuid := gen_random_uuid();
begin
  if not payload ? 'id' then
    payload := jsonb_set(payload, '{id}', to_jsonb(message_id));
  end if;
  perform set_config('realtime.topic', topic, true);
  insert into realtime.messages (id, payload, event, topic, private, extension)
  values (message_id, payload, event, topic, private, 'broadcast');
exception
  when others then
    raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
end
$$;

create or replace function realtime.send_binary(
  payload bytea, event text, topic text, private boolean default true
) returns void
  language plpgsql
as $$
begin
  perform set_config('realtime.topic', topic, true);
  insert into realtime.messages (binary_payload, event, topic, private, extension)
  values (payload, event, topic, private, 'broadcast');
exception
  when others then
    raise warning 'WarnSendingBroadcastMessage: %', sqlerrm;
end
$$;

create or replace function realtime.broadcast_changes(
  topic_name text, event_name text, operation text, table_name text, table_schema text,
  new record, old record, level text default 'ROW'
) returns void
  language plpgsql
as $$
begin
  if level = 'STATEMENT' then
    raise exception 'function can only be triggered for each row, not for each statement';
  elsif operation is null or operation not in ('INSERT', 'UPDATE', 'DELETE') then
    raise exception 'Unexpected operation type: %', operation;
  end if;
  perform realtime.send(
    jsonb_build_object(
      'old_record', old,
      'record', new,
      'operation', operation,
      'table', table_name,
      'schema', table_schema
    ),
    event_name,
    topic_name
  );
exception
  when others then
    raise exception 'Failed to process the row: %', sqlerrm;
end
$$;

select realtime.ensure_partitions();

do $$
begin
  if not exists (
    select from pg_publication where pubname = 'supabase_realtime_messages_publication'
  ) then
    create publication supabase_realtime_messages_publication for table realtime.messages;
  end if;
end
$$;
