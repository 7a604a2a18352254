-- Who is an admin, and that one is always left.

create function private.is_admin() returns boolean
  language plpgsql
  stable
  security definer -- the table is closed
  set search_path = ''
as $$
begin
  return exists (
    select from public.admins where admins.account_id = private.account_id()
  );
end
$$;
comment on function private.is_admin is 'Whether the caller is an admin whose account is in order.';

create function private.require_admin() returns uuid
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
begin
  if not private.is_admin() then
    perform private.refuse(403, 'admin_only');
  end if;
  return caller_id;
end
$$;
comment on function private.require_admin is
  'The calling admin''s account, or what require_account refuses, or 403 admin_only.';

create function private.keep_an_admin() returns void
  language plpgsql
  security definer -- reads closed tables, for whoever took an admin away
  set search_path = ''
as $$
begin
  -- One after another: of two who take each other's rights away at once the second finds nobody.
  perform pg_advisory_xact_lock(hashtextextended('admins', 0));
  if not exists (
    select from public.admins
    join public.accounts on accounts.id = admins.account_id
    where private.may_act(accounts) and accounts.status <> 'deletion_requested'
  ) then
    perform private.refuse(409, 'last_admin', '{}',
      'Nobody else is an admin: add a row to admins for another account first.');
  end if;
end
$$;
comment on function private.keep_an_admin is
  '409 last_admin unless an admin whose account is in order is left.';

create function private.on_admin_gone() returns trigger
  language plpgsql
  security definer -- as keep_an_admin
  set search_path = ''
as $$
begin
  perform private.keep_an_admin();
  return null;
end
$$;
comment on function private.on_admin_gone is 'Nobody takes the last admin away, in whatever way.';

create trigger admins_keep_one
  after delete or update of account_id on public.admins
  for each row execute function private.on_admin_gone();
create trigger admins_are_not_emptied
  after truncate on public.admins
  for each statement execute function private.on_admin_gone();

create function private.on_admin_account() returns trigger
  language plpgsql
  security definer -- reads and writes a closed table
  set search_path = ''
as $$
begin
  if new.status = 'deleted' then
    delete from public.admins where admins.account_id = new.id;
  elsif exists (select from public.admins where admins.account_id = new.id) then
    perform private.keep_an_admin();
  end if;
  return null;
end
$$;
comment on function private.on_admin_account is
  'An account that is locked, or will be deleted, leaves another admin; deleted it is none any more.';

create trigger accounts_keep_an_admin
  after update of status, suspended_until on public.accounts
  for each row when (new.status <> 'active')
  execute function private.on_admin_account();

grant execute on function private.is_admin, private.require_admin to authenticated;
