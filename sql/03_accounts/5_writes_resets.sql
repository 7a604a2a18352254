-- A reset takes effect in the transaction in which Auth writes the password (on_password_changed).

create function private.write_contact(
  account_id uuid, session_id uuid, act text, kind text, value text
) returns void
  language plpgsql
  security definer -- writes to Auth's tables
  set search_path = ''
as $$
begin
  delete from private.contact_changes as changes
  where changes.account_id = write_contact.account_id and changes.kind = write_contact.kind
    and changes.done_at is null;
  insert into private.contact_changes (account_id, session_id, act, kind, value, proven_at)
  values (account_id, session_id, act, kind, value, clock_timestamp());
  -- If email_confirmed_at were null, Auth would delete password and phone at the next sign-in with a
  -- provider.
  if kind = 'phone' then
    update auth.users
    set phone = ltrim(value, '+'), phone_confirmed_at = case when value is not null then now() end
    where users.id = write_contact.account_id;
  else
    update auth.users
    set email = value, email_confirmed_at = coalesce(users.email_confirmed_at, now())
    where users.id = write_contact.account_id;
  end if;
  delete from auth.identities
  where identities.user_id = write_contact.account_id
    and identities.provider = write_contact.kind;
  insert into auth.identities
    (provider_id, user_id, identity_data, provider, last_sign_in_at, created_at, updated_at)
  select account_id::text, account_id, jsonb_build_object(
      'sub', account_id, kind, ltrim(value, '+'),
      'email_verified', kind = 'email', 'phone_verified', kind = 'phone'),
    kind, null, now(), now()
  where value is not null;
end
$$;
comment on function private.write_contact is
  'Writes or removes a phone or email in Auth''s tables, because Auth''s API cannot remove it.';

create function private.undo_contact_changes(account public.accounts, identifier text) returns void
  language plpgsql
  security definer -- writes to Auth's tables and to tables closed to clients
  set search_path = ''
as $$
declare
  changed constant text := case when identifier like '+%' then 'email' else 'phone' end;
  since timestamptz;
  earlier text;
begin
  with undone as (
    delete from private.contact_changes as changes
    where changes.account_id = account.id and changes.kind = changed
      and changes.act in ('change', 'removal')
      and changes.other_value = undo_contact_changes.identifier
      and changes.done_at > now() - interval '72 hours'
    returning changes.done_at, changes.old_value
  )
  select min(undone.done_at), (array_agg(undone.old_value order by undone.done_at))[1]
  into since, earlier from undone;
  if since is null then
    return;
  end if;
  delete from auth.identities
  where identities.user_id = account.id and identities.created_at > since
    and identities.provider not in ('email', 'phone');
  if (private.contact_holder(account.id, earlier)).holder_id is not null then
    earlier := null;
  end if;
  if earlier is distinct from private.proven_contact(account, changed) then
    perform private.write_contact(account.id, null, 'undo', changed, earlier);
  end if;
end
$$;
comment on function private.undo_contact_changes is
  'Undoes the changes of the other contact in the last 72 hours that were made while identifier '
  'was proven. The old value is restored unless another account has it, and providers linked since '
  'then are unlinked.';

create function private.finish_reset(account_id uuid, identifier text) returns void
  language plpgsql
  security definer -- writes to Auth's tables and to tables closed to clients
  set search_path = ''
as $$
declare
  account public.accounts := private.lock_account_exclusively(account_id);
  other_value text;
  kind constant text := case when identifier like '+%' then 'phone' else 'email' end;
begin
  if kind = 'email' and not account.email_proven then
    -- Rows that depend on the proof are locked before the devices, which are deleted together with
    -- the sessions below.
    perform private.lock_dependents(account_id, array(
      select identities.id from public.identities
      where identities.account_id = finish_reset.account_id
    ), false);
  end if;
  -- This also deletes codes requested from other IP addresses, which could be used to set another
  -- password.
  perform private.end_other_access(account_id, null, null);
  update public.accounts
  set email_proven = accounts.email_proven or kind = 'email', taken_over_at = null
  where accounts.id = account.id;
  if kind = 'email' and not account.email_proven then
    delete from auth.identities
    where identities.user_id = account.id and identities.provider not in ('email', 'phone');
    perform private.suspend_unproven_past(account_id);
  end if;
  perform private.undo_contact_changes(account, identifier);
  account := private.lock_account_exclusively(account_id);
  other_value := private.proven_contact(account, private.other_kind(kind));
  if other_value is not null then
    insert into private.contact_changes
      (account_id, act, kind, value, other_value, done_at, expires_at)
    values (account_id, 'reset', kind, identifier, other_value, clock_timestamp(),
      clock_timestamp() + interval '72 hours');
  end if;
end
$$;
comment on function private.finish_reset is
  'Marks the contact that received the code as proven. The first proof of an email unlinks '
  'providers and pauses older listings. Changes of the other contact in the last 72 hours are '
  'undone.';
