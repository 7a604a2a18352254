create schema if not exists storage;
grant usage on schema storage to anon, authenticated, service_role;
grant usage on schema storage to postgres with grant option;
grant usage, create on schema storage to supabase_storage_admin;

do $$
begin
  if to_regtype('storage.buckettype') is null then
    create type storage.buckettype as enum ('STANDARD', 'ANALYTICS', 'VECTOR');
  end if;
end
$$;
alter type storage.buckettype owner to supabase_storage_admin;

create table if not exists storage.buckets (
  id text primary key,
  name text not null,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  public boolean default false,
  avif_autodetection boolean default false,
  file_size_limit bigint,
  allowed_mime_types text[],
  owner_id text,
  type storage.buckettype not null default 'STANDARD'
);
comment on column storage.buckets.owner is 'Field is deprecated, use owner_id instead';
create unique index if not exists bname on storage.buckets (name);

create table if not exists storage.objects (
  id uuid primary key default gen_random_uuid(),
  bucket_id text references storage.buckets (id),
  name text,
  owner uuid,
  created_at timestamptz default now(),
  updated_at timestamptz default now(),
  last_accessed_at timestamptz default now(),
  metadata jsonb,
  path_tokens text[] generated always as (string_to_array(name, '/')) stored,
  version text,
  owner_id text,
  user_metadata jsonb
);
comment on column storage.objects.owner is 'Field is deprecated, use owner_id instead';
create unique index if not exists bucketid_objname on storage.objects (bucket_id, name);
create index if not exists name_prefix_search on storage.objects (name text_pattern_ops);

create or replace function storage.foldername(name text) returns text[]
  language sql
  immutable
as $$
  select parts[1 : array_length(parts, 1) - 1] from string_to_array(name, '/') as parts
$$;

create or replace function storage.filename(name text) returns text
  language sql
  immutable
as $$
  select parts[array_length(parts, 1)] from string_to_array(name, '/') as parts
$$;

create or replace function storage.extension(name text) returns text
  language sql
  immutable
as $$
  select reverse(split_part(reverse(storage.filename(name)), '.', 1))
$$;

create or replace function storage.operation() returns text
  language sql
  stable
as $$
  select current_setting('storage.operation', true)
$$;
comment on function storage.operation() is
  'The current operation of the Storage API, such as storage.object.upload, for use in policies.';

create or replace function storage.allow_any_operation(expected_operations text[]) returns boolean
  language sql
  stable
as $$
  select exists (
    select from unnest(expected_operations) as expected
    where regexp_replace(expected, '^storage\.', '')
      = regexp_replace(storage.operation(), '^storage\.', '')
  )
$$;

create or replace function storage.allow_only_operation(expected_operation text) returns boolean
  language sql
  stable
as $$
  select storage.allow_any_operation(array[expected_operation])
$$;

-- Only the Storage API may delete rows. If SQL deleted a row, its file would be left over.
create or replace function storage.protect_delete() returns trigger
  language plpgsql
as $$
begin
  if coalesce(current_setting('storage.allow_delete_query', true), '') <> 'true' then
    raise exception 'Direct deletion from storage tables is not allowed. Use the Storage API instead.'
      using errcode = '42501';
  end if;
  return null;
end
$$;

create or replace function storage.touch() returns trigger
  language plpgsql
as $$
begin
  new.updated_at = now();
  return new;
end
$$;

do $$
declare
  name text;
begin
  foreach name in array array['buckets', 'objects'] loop
    execute format('alter table storage.%I owner to supabase_storage_admin', name);
    execute format('alter table storage.%I enable row level security', name);
    execute format('grant all on storage.%I to postgres with grant option', name);
    execute format('grant all on storage.%I to anon, authenticated, service_role', name);
    execute format(
      'create or replace trigger protect_%1$s_delete before delete on storage.%1$I '
        'for each statement execute function storage.protect_delete()', name
    );
  end loop;
end
$$;
create or replace trigger update_objects_updated_at before update on storage.objects
  for each row execute function storage.touch();

do $$
declare
  signature text;
begin
  for signature in
    select oid::regprocedure from pg_proc where pronamespace = 'storage'::regnamespace
  loop
    execute format('alter function %s owner to supabase_storage_admin', signature);
  end loop;
end
$$;
