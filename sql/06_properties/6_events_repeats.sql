create function private.on_suspension() returns trigger
  language plpgsql
  security definer -- writes tables that clients cannot access
  set search_path = ''
as $$
begin
  if new.status = 'suspended' then
    insert into private.suspensions (property_id, account_id, listing, pictures)
    select new.id, identities.account_id, private.compared_fields(new),
      private.picture_hashes(new.id)
    from public.identities where identities.id = new.owner_identity_id
    on conflict (property_id) do update
    set listing = excluded.listing, pictures = excluded.pictures, ended_at = null;
    -- Listed copies of the listing will go to review too.
    insert into private.duplicate_checks (property_id)
    select copies.id
    from public.identities as owner
    join public.identities as others on others.account_id = owner.account_id
    join public.properties as copies on copies.owner_identity_id = others.id
    where owner.id = new.owner_identity_id and copies.listed and copies.id <> new.id
      and copies.type = new.type and copies.kind = new.kind and copies.area_id = new.area_id;
  else
    update private.suspensions set ended_at = now() where suspensions.property_id = new.id;
  end if;
  return null;
end
$$;
comment on function private.on_suspension is
  'Stores a copy of a listing when it is suspended, and the time when the suspension ends.';
create trigger properties_are_known_when_suspended
  after update of status on public.properties
  for each row when (new.status <> old.status and 'suspended' in (old.status, new.status))
  execute function private.on_suspension();

create function private.forget_suspensions() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from private.suspensions where suspensions.account_id = new.id;
  return null;
end
$$;
comment on function private.forget_suspensions is
  'Deletes the stored copies of suspended listings when their account is deleted.';
create trigger accounts_forget_suspensions
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_suspensions();

create function private.settle_duplicates() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if old.status = 'pending_review' and new.status in ('active', 'paused') then
    update public.duplicates set state = 'dismissed'
    where duplicates.property_id = new.id and duplicates.state = 'in_review';
  else
    update public.duplicates set state = 'gone'
    where duplicates.id in (
      select open.id from public.duplicates as open
      where new.id in (open.property_id, open.of_id) and open.state = 'open'
      order by open.id for no key update
    );
  end if;
  return null;
end
$$;
comment on function private.settle_duplicates is
  'When a listing is approved, dismisses the pairs for which it was in review, even if a full '
  'quota pauses the listing at once. When a listing is suspended or deleted, sets its open pairs '
  'to gone.';
create trigger properties_settle_duplicates
  after update of status on public.properties
  for each row when (
    old.status = 'pending_review' and new.status in ('active', 'paused')
    or new.status <> old.status and new.status in ('suspended', 'deleted')
  )
  execute function private.settle_duplicates();

create function private.queue_duplicate_check() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.duplicate_checks (property_id)
  select new.id
  where exists (select from public.media where media.property_id = new.id) or exists (
    select from public.identities
    join private.suspensions on suspensions.account_id = identities.account_id
    where identities.id = new.owner_identity_id
  );
  return null;
end
$$;
comment on function private.queue_duplicate_check is
  'Queues a listing for comparison with others when it becomes listed or is changed.';
create trigger properties_are_compared
  after update on public.properties
  for each row when (
    new.listed and (not old.listed
      or private.compared_fields(old) is distinct from private.compared_fields(new))
  )
  execute function private.queue_duplicate_check();
