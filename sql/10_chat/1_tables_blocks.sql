-- Blocks: whom an account does not want to hear from. A block names an identity and acts on the
-- account behind it, so that switching identities is no way around it.

create table public.blocks (
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  blocked_account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, identity_id),
  constraint blocks_is_of_somebody_else check (blocked_account_id <> account_id)
);
comment on table public.blocks is 'Whom an account does not want to hear from.';
comment on column public.blocks.account_id is 'Who blocks; for all of its identities.';
comment on column public.blocks.identity_id is 'The identity that was blocked, as it was known.';
comment on column public.blocks.blocked_account_id is 'The account behind it, which the block acts on.';
comment on column public.blocks.created_at is 'When; the list is newest first.';
create index blocks_newest_idx
  on public.blocks (account_id, created_at desc, identity_id desc);
create index blocks_of_idx on public.blocks (blocked_account_id, account_id);
create index blocks_identity_idx on public.blocks (identity_id);

alter table public.blocks enable row level security;
revoke all on public.blocks from anon, authenticated;
-- The account behind an identity is nobody's to read.
grant select (account_id, identity_id, created_at) on public.blocks to authenticated;
create policy "people see whom they blocked" on public.blocks for select to authenticated
  using (account_id = (select private.account_id()));

create function private.are_blocked(one_account_id uuid, other_account_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- reads blocks of both
  set search_path = ''
as $$
begin
  return exists (
    select from public.blocks
    where blocks.account_id = one_account_id and blocks.blocked_account_id = other_account_id
  ) or exists (
    select from public.blocks
    where blocks.account_id = other_account_id and blocks.blocked_account_id = one_account_id
  );
end
$$;
comment on function private.are_blocked is 'Whether one of two accounts has blocked the other.';

create function private.block_identity(identity_id uuid) returns void
  language plpgsql
  security definer -- finds the account behind the identity
  set search_path = ''
as $$
declare
  caller_id uuid := private.hold_caller();
  other_id uuid := (
    select identities.account_id from public.identities
    where identities.id = block_identity.identity_id
      and (private.is_on_show(identities.id) or private.have_met(caller_id, identities.id))
  );
begin
  if other_id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif other_id = caller_id then
    perform private.refuse(422, 'validation_failed', '{"fields":[{"path":"identityId","code":"self"}]}');
  end if;
  insert into public.blocks (account_id, identity_id, blocked_account_id)
  values (caller_id, block_identity.identity_id, other_id)
  on conflict do nothing;
end
$$;
comment on function private.block_identity is 'See api.block_identity.';

create function api.block_identity(identity_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.block_identity(identity_id);
end
$$;
comment on function api.block_identity is
  'Neither side can write to the other any more, and the blocked one no longer sees who is there or '
  'typing. Can be repeated. 404 identity_not_found, 422 for oneself.';

create function private.unblock_identity(identity_id uuid) returns void
  language plpgsql
  security definer -- clients have no delete grant
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  delete from public.blocks
  where blocks.account_id = caller_id and blocks.identity_id = unblock_identity.identity_id;
end
$$;
comment on function private.unblock_identity is 'See api.unblock_identity.';

create function api.unblock_identity(identity_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.unblock_identity(identity_id);
end
$$;
comment on function api.unblock_identity is 'Takes a block back. Can be repeated.';

create function private.list_blocks(page_cursor text, page_size integer)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads names of others
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
  query text := 'list_blocks ' || caller_id;
  key jsonb := private.cursor_key(query, page_cursor);
begin
  return query
  with page as (
    select blocks.identity_id, blocks.created_at,
      row_number() over (order by blocks.created_at desc, blocks.identity_id desc) as place
    from public.blocks
    where blocks.account_id = caller_id
      and (blocks.created_at, blocks.identity_id)
        < (coalesce((key ->> 0)::timestamptz, 'infinity'), coalesce((key ->> 1)::uuid,
          'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by blocks.created_at desc, blocks.identity_id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(private.peer_json(page.identity_id)::jsonb
      || jsonb_build_object('createdAt', page.created_at) order by page.place)
      filter (where page.place <= page_size), '[]'),
    (
      select private.cursor_of(query, jsonb_build_array(last.created_at, last.identity_id))
      from page as last
      where last.place = page_size and exists (select from page as more where more.place > page_size)
    )
  from page;
end
$$;
comment on function private.list_blocks is 'See api.list_blocks.';

create function api.list_blocks(page_cursor text default null, page_size integer default 20)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query select * from private.list_blocks(page_cursor, page_size);
end
$$;
comment on function api.list_blocks is 'Whom I blocked, newest first.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.block_identity, private.unblock_identity, private.list_blocks
  to authenticated;
grant execute on function api.block_identity, api.unblock_identity, api.list_blocks
  to authenticated;
