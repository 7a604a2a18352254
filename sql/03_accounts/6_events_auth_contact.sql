-- A change of phone or email at Auth is refused unless it was proven. A proven change takes effect
-- in the transaction that writes it (docs/auth.md).

create function private.own_metadata(metadata jsonb, email text) returns jsonb
  language sql immutable set search_path = ''
as $$
  select case when lower(metadata ->> 'email') is distinct from lower(email) and metadata ? 'email'
    then metadata - 'email' - 'email_verified' else metadata end
$$;

create function private.proven_contact_change(
  user_id uuid, old_email text, old_phone text, email text, phone text
) returns private.contact_changes
  language plpgsql stable
  security definer -- Auth's role may not read our tables
  set search_path = ''
as $$
declare
  change private.contact_changes;
begin
  -- The change is identified by the new value, because Auth writes its confirmed flags in earlier
  -- statements.
  select * into change from private.contact_changes as changes
  where changes.account_id = user_id and changes.done_at is null
    and changes.proven_at > clock_timestamp() - interval '10 minutes'
    and case changes.kind
      when 'phone' then changes.value is not distinct from '+' || nullif(phone, '')
        and (email is null or email = old_email)
      else changes.value is not distinct from lower(nullif(email, ''))
        and phone is not distinct from old_phone
    end
    and (changes.session_id is null
      or exists (select from auth.sessions where sessions.id = changes.session_id))
  order by changes.proven_at desc
  limit 1;
  return change;
end
$$;

create function private.lose_email(user_id uuid) returns jsonb
  language plpgsql
  security definer -- writes to Auth's tables
  set search_path = ''
as $$
begin
  -- email_confirmed_at is kept. Otherwise Auth would delete password and phone at the next sign-in
  -- with a provider.
  update auth.users set email = null where users.id = lose_email.user_id;
  delete from auth.identities
  where identities.user_id = lose_email.user_id and identities.provider = 'email';
  delete from private.codes where codes.account_id = lose_email.user_id;
  perform private.notify(user_id, null, 'security_contact', null, '{"act":"lost","kind":"email"}');
  return (
    select jsonb_agg(jsonb_build_object('listings', (
      select count(*) from public.properties
      join public.identities on identities.id = properties.owner_identity_id
      where identities.account_id = accounts.id and properties.status <> 'deleted'
    )))
    from public.accounts
    where accounts.id = lose_email.user_id
      and not private.has_other_way(accounts, 'email', false)
  );
end
$$;
comment on function private.lose_email is
  'Removes a user''s email at Auth. Returns [{listings}], the number of listings, if the account '
  'can no longer be signed in to.';

create function private.make_way(change private.contact_changes) returns void
  language plpgsql
  security definer -- writes to Auth's tables, also for other people's accounts
  set search_path = ''
as $$
declare
  holder record;
  closing jsonb;
begin
  select * into holder from private.contact_holder(change.account_id, change.value);
  if holder.is_taken then
    perform private.refuse(409, change.kind || '_taken');
  elsif holder.holder_id is not null then
    closing := private.lose_email(holder.holder_id);
  end if;
  update private.contact_changes set closes = closing
  where contact_changes.id = change.id;
  -- If identities of two users had the same email, Auth would find neither of the users by it.
  update auth.identities set identity_data = identities.identity_data - 'email' - 'email_verified'
  where identities.email = change.value and identities.user_id <> change.account_id;
end
$$;
comment on function private.make_way is
  'Takes an unproven email away from another account, so that the change can set it. Raises 409 if '
  'the contact is taken.';

create function private.check_contact_at_auth() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  account public.accounts;
  change private.contact_changes;
begin
  if new.deleted_at is not null then
    return new;
  end if;
  -- If a session is being deleted, this waits until the deletion is committed.
  perform private.lock_sessions(new.id);
  account := private.lock_account_exclusively(new.id);
  change := private.proven_contact_change(
    new.id, old.email, old.phone, new.email, new.phone);
  if change.id is null then
    if session_user = 'supabase_auth_admin' and pg_trigger_depth() = 1
      and (new.email, new.phone) is distinct from (old.email, old.phone) then
      raise exception using errcode = 'PT409', message =
        'Email and phone are not changed at Auth: nobody has proven the new one.';
    end if;
    return new;
  end if;
  perform private.make_way(change);
  if change.kind = 'phone' and change.value is not null
    and account.email is not null and not account.email_proven then
    new.email := null;
    delete from auth.identities
    where identities.user_id = new.id and identities.provider = 'email';
  end if;
  new.raw_user_meta_data := private.own_metadata(new.raw_user_meta_data, new.email);
  return new;
end
$$;
comment on function private.check_contact_at_auth is
  'Refuses an unproven change of email or phone at Auth. An unproven email is removed when its '
  'account proves a phone or another account proves the email.';

create function private.on_auth_user_changed() returns trigger
  language plpgsql
  security definer -- Auth's role may not write to our tables
  set search_path = ''
as $$
declare
  before constant public.accounts := private.lock_account_exclusively(new.id);
  change private.contact_changes;
  broken text;
begin
  if new.deleted_at is not null then
    perform private.anonymise_account(new.id);
    return new;
  end if;
  change := private.proven_contact_change(
    new.id, old.email, old.phone, new.email, new.phone);
  begin
    update public.accounts
    set email = lower(nullif(new.email, '')), phone = '+' || nullif(new.phone, ''),
        email_proven = new.email is not null and (coalesce(change.kind, '') = 'email'
          or accounts.email_proven and accounts.email = lower(new.email)),
        unreachable_since = case when coalesce(nullif(new.email, ''), nullif(new.phone, '')) is null
          then coalesce(accounts.unreachable_since, now()) end
    where accounts.id = new.id and accounts.status <> 'deleted';
  exception
    when check_violation then -- the message is for a person who writes SQL
      get stacked diagnostics broken = constraint_name;
      raise exception using errcode = 'PT409', message = case broken
        when 'accounts_unproven_email_stands_alone' then
          'Add a row to admin_acts with act set_identifier: what that sets is proven.'
        else
          'An account has an email as people write it, or a Kuwaiti mobile number such as 96550000001.'
        end;
  end;
  if new.email is distinct from old.email then
    -- This fires check_auth_identity, which removes an email that is no longer the account's.
    update auth.identities set identity_data = identities.identity_data
    where identities.user_id = new.id and identities.provider not in ('email', 'phone');
  end if;
  if change.id is not null then
    perform private.finish_contact_change(change, before);
  end if;
  return new;
end
$$;
comment on function private.on_auth_user_changed is
  'Copies email and phone to the account and finishes a proven change. If the user is marked as '
  'deleted, anonymises the account instead.';

create function private.end_other_access(account_id uuid, session_id uuid, change_id uuid)
  returns void
  language plpgsql
  security definer -- deletes from auth.sessions and from tables closed to clients
  set search_path = ''
as $$
begin
  delete from auth.sessions -- deletes their devices too
  where sessions.user_id = end_other_access.account_id
    and sessions.id is distinct from end_other_access.session_id;
  delete from private.codes
  where codes.account_id = end_other_access.account_id
    and (end_other_access.change_id is null
      or codes.change_id is distinct from end_other_access.change_id);
  delete from private.contact_changes as changes
  where changes.account_id = end_other_access.account_id
    and changes.id is distinct from end_other_access.change_id and changes.done_at is null;
  delete from private.known_addresses
  where known_addresses.account_id = end_other_access.account_id;
end
$$;

create function private.send_contact_messages(
  account public.accounts, kind text, old_value text, other_value text
) returns void
  language sql security definer set search_path = ''
as $$
  delete from private.contact_messages
  where contact_messages.account_id = account.id
    and contact_messages.sent_to in (old_value, other_value);
  insert into private.contact_messages (account_id, sent_to, body)
  select account.id, messages.sent_to, messages.body
  from (values
    (old_value, case when old_value like '+%' then 'لم يعد هذا الرقم لحسابك' else 'لم يعد هذا البريد لحسابك' end
      || '. إن لم تكن أنت من غيّره فراسل الدعم'),
    (other_value, case kind when 'phone' then 'تغيّر رقم الهاتف في حسابك'
      when 'email' then 'تغيّر البريد في حسابك' else 'حُذفت طريقة دخول من حسابك' end
      || '. إن لم تكن أنت فاختر «نسيت كلمة المرور»')
  ) as messages (sent_to, body)
  where messages.sent_to is not null
$$;
comment on function private.send_contact_messages is
  'Queues messages to the old contact and to the contact of the other kind. The messages contain '
  'neither the new value nor a link, and fit into one SMS.';

create function private.finish_contact_change(
  change private.contact_changes, before public.accounts
) returns void
  language plpgsql
  security definer -- writes to Auth's tables and to tables closed to clients
  set search_path = ''
as $$
declare
  replaced constant text := nullif(private.proven_contact(before, change.kind), change.value);
  other constant text := private.proven_contact(before, private.other_kind(change.kind));
  was constant text := case change.kind when 'phone' then before.phone else before.email end;
begin
  perform private.end_other_access(before.id, change.session_id, change.id);
  delete from private.codes
  where codes.identifier in (was, change.value) and codes.change_id is distinct from change.id;
  delete from private.registrations where registrations.phone in (was, change.value);
  delete from private.email_claims where email_claims.email in (was, change.value);
  if change.act in ('undo', 'set') then
    delete from private.contact_changes as changes
    where changes.id = change.id or changes.account_id = before.id and change.act = 'set';
  else
    update private.contact_changes
    set done_at = clock_timestamp(), expires_at = clock_timestamp() + interval '72 hours',
        old_value = replaced, other_value = other
    where contact_changes.id = change.id;
  end if;
  perform private.notify(before.id, null, 'security_contact', null, jsonb_build_object(
    'act', change.act, 'kind', change.kind, 'at', clock_timestamp()));
  perform private.send_contact_messages(before, change.kind, replaced, other);
end
$$;
comment on function private.finish_contact_change is
  'Ends earlier access and open changes. Sends a notification in the app, and messages to the old '
  'contact and to the contact of the other kind.';
