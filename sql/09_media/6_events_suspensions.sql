-- While a listing, identity or account is suspended, its files are in a private bucket. An account can
-- have thousands of files, so the moves are only queued here; a job makes them
-- (7_jobs_suspensions.sql).

create function private.queue_listing_files() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.file_moves (property_id) values (new.id);
  return null;
end
$$;
comment on function private.queue_listing_files is
  'Queues a listing that was suspended or restored, so that its pictures are moved.';
create trigger properties_move_their_files
  after update of status on public.properties
  for each row when (old.status <> new.status and 'suspended' in (old.status, new.status))
  execute function private.queue_listing_files();

create function private.queue_identity_files() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.file_moves (identity_id) values (new.id);
  return null;
end
$$;
comment on function private.queue_identity_files is
  'Queues an identity that was suspended or restored, so that its pictures are moved.';
create trigger identities_move_their_files
  after update of status on public.identities
  for each row when (old.status <> new.status and 'suspended' in (old.status, new.status))
  execute function private.queue_identity_files();

create function private.queue_account_files() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.file_moves (identity_id)
  select identities.id from public.identities where identities.account_id = new.id;
  return null;
end
$$;
comment on function private.queue_account_files is
  'Queues the identities of an account that was suspended, banned or reinstated, so that their '
  'pictures are moved.';
create trigger accounts_move_their_files
  after update of status on public.accounts
  for each row when (
    (old.status in ('suspended', 'banned')) <> (new.status in ('suspended', 'banned'))
  )
  execute function private.queue_account_files();
