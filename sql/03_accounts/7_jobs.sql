create function private.end_suspension(account_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  perform from public.accounts
  where accounts.id = end_suspension.account_id
  for no key update skip locked;
  if not found then
    return false;
  end if;
  update public.accounts
  set status = 'active', status_reason = null, suspended_until = null
  where accounts.id = end_suspension.account_id
    and accounts.status = 'suspended' and accounts.suspended_until < now();
  return found;
end
$$;

create function private.end_suspensions() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.for_each('end_suspension', array(
    select accounts.id::text from public.accounts
    where accounts.status = 'suspended' and accounts.suspended_until < now()
      and not private.failed_recently('end_suspension', accounts.id::text)
    order by accounts.suspended_until
    limit 100
  ), true)
$$;
comment on function private.end_suspensions is 'Job: ends suspensions whose time is over.';

create function private.end_sessions_left_of(account_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
begin
  delete from auth.sessions where sessions.id in (
    select own.id from auth.sessions as own
    join private.sessions_left on sessions_left.session_id = own.id
    where sessions_left.account_id = end_sessions_left_of.account_id
    for update of own skip locked
  );
  return found;
end
$$;

create function private.end_sessions_left() returns bigint
  language plpgsql
  security definer -- deletes from auth.sessions and from a table closed to clients
  set search_path = ''
as $$
begin
  delete from private.sessions_left
  where not exists (select from auth.sessions where sessions.id = sessions_left.session_id);
  return private.for_each('end_sessions_left_of', array(
    select distinct sessions_left.account_id::text from private.sessions_left
    where not private.failed_recently('end_sessions_left_of', sessions_left.account_id::text)
    limit 100
  ), true);
end
$$;
comment on function private.end_sessions_left is
  'Job: ends the sessions listed in private.sessions_left.';

create function private.end_surplus_sessions_of(account_id uuid) returns boolean
  language plpgsql set search_path = ''
as $$
declare
  surplus uuid[] := array(
    select sessions.id from auth.sessions
    where sessions.user_id = end_surplus_sessions_of.account_id
    order by coalesce(sessions.refreshed_at, sessions.created_at at time zone 'UTC') desc, sessions.id
    offset (select rates.max from private.rates where rates.rule = 'sessions')
  );
begin
  -- Sessions are locked before the account, as in a refresh. If a session is already locked, it is
  -- in use and is kept.
  surplus := array(
    select sessions.id from auth.sessions where sessions.id = any (surplus)
    for update skip locked
  );
  perform private.lock_account_exclusively(account_id);
  delete from auth.sessions where sessions.id = any (surplus);
  return found;
end
$$;

create function private.end_surplus_sessions() returns bigint
  language sql security definer set search_path = ''
as $$
  -- Only accounts with a sign-in in the last hour are checked, because only a sign-in adds a
  -- session. Counting stops at the first session above the limit.
  select private.for_each('end_surplus_sessions_of', array(
    select individual_profiles.account_id::text
    from private.rates
    join public.individual_profiles
      on individual_profiles.last_sign_in_at > now() - interval '1 hour'
    where rates.rule = 'sessions' and rates.max < 1000000
      and rates.max < (
        select count(*)
        from (
          select from auth.sessions where sessions.user_id = individual_profiles.account_id
          limit rates.max + 1
        ) as open
      )
      and not private.failed_recently(
        'end_surplus_sessions_of', individual_profiles.account_id::text)
    limit 100
  ), true)
$$;
comment on function private.end_surplus_sessions is
  'Job: ends the least recently used sessions of accounts that have too many.';

create function private.take_apple_revocations() returns jsonb
  language sql security definer set search_path = ''
as $$
  with due as (
    select apple_tokens.account_id, apple_tokens.client_id from private.apple_tokens
    where apple_tokens.revoke_at <= now()
    order by apple_tokens.revoke_at
    limit 20
    for update skip locked
  ), taken as (
    -- A worker may crash or Apple may be unavailable, so tokens are retried at intervals that grow
    -- to one day.
    update private.apple_tokens
    set tries = apple_tokens.tries + 1,
        revoke_at = now() + least(power(2, apple_tokens.tries), 1440) * interval '1 minute'
    from due
    where apple_tokens.account_id = due.account_id and apple_tokens.client_id = due.client_id
    returning apple_tokens.account_id, apple_tokens.client_id, apple_tokens.sealed_token
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'accountId', taken.account_id, 'clientId', taken.client_id, 'sealed', taken.sealed_token
  )), '[]')
  from taken
$$;
comment on function private.take_apple_revocations is
  'Job: assigns tokens to one worker, which revokes them.';

create function private.finish_apple_revocation(account_id uuid, client_id text) returns void
  language sql security definer set search_path = ''
as $$
  delete from private.apple_tokens
  where apple_tokens.account_id = finish_apple_revocation.account_id
    and apple_tokens.client_id = finish_apple_revocation.client_id
    and apple_tokens.revoke_at is not null
$$;

create function private.forget_registrations() returns bigint
  language sql security definer set search_path = ''
as $$
  with old as (
    delete from private.registrations where registrations.ctid = any (array(
      select registrations.ctid from private.registrations
      where registrations.sealed_password is not null
        and registrations.created_at < now() - (private.code_limits()).attempt_life
      order by registrations.created_at limit 1000 for update skip locked
    ))
    returning registrations.phone, registrations.created_at
  ), noted as (
    insert into private.registrations (id, phone, created_at)
    select gen_random_uuid(), old.phone, max(old.created_at) from old group by old.phone
    on conflict (phone) where sealed_password is null
    do update set created_at = greatest(registrations.created_at, excluded.created_at)
  )
  select count(*) from old
$$;
comment on function private.forget_registrations is
  'Deletes the data of up to 1,000 old registrations, but keeps one row without data for each '
  'phone.';

create function private.purge_codes() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.forget_registrations()
    + private.purge('private.registrations', 'created_at', (private.code_limits()).contested_for)
    + private.purge('private.email_claims', 'claimed_at', '1 hour')
    + private.purge('private.email_registrations', 'created_at', '1 day')
    + private.purge('private.codes', 'created_at', '1 day')
    + private.purge('private.sms_sent', 'hour', '2 days')
    + private.purge('private.contact_changes', 'expires_at', '0')
    + private.purge('private.contact_messages', 'created_at', '1 day')
$$;
comment on function private.purge_codes is 'Job: deletes old registrations, codes and contact changes.';

create function private.take_contact_messages(sms_per_day integer) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  this_hour constant timestamptz := date_trunc('hour', clock_timestamp());
  taken jsonb;
  sms integer;
  mails integer;
begin
  with due as (
    select messages.id from (
      select contact_messages.id, contact_messages.due_at,
        contact_messages.sent_to like '+%' as is_sms,
        row_number() over (
          partition by contact_messages.sent_to like '+%' order by contact_messages.due_at
        ) as nth
      from private.contact_messages where contact_messages.due_at <= now()
    ) as messages
    -- SMS_PER_DAY is never exceeded; the remaining SMS wait for the next day.
    where not messages.is_sms or sms_per_day = 0 or messages.nth <= sms_per_day - (
      select coalesce(sum(sms_sent.sent), 0) from private.sms_sent
      where sms_sent.hour >= date_trunc('day', this_hour, 'Asia/Kuwait')
    )
    order by messages.due_at
    limit 20
  ), locked as (
    select contact_messages.id from private.contact_messages
    join due on due.id = contact_messages.id
    for update of contact_messages skip locked
  ), tried as (
    -- A worker may crash while sending, so messages are retried for a day, at increasing intervals.
    update private.contact_messages
    set tries = contact_messages.tries + 1,
        due_at = now() + least(power(2, contact_messages.tries), 60) * interval '1 minute'
    from locked where contact_messages.id = locked.id
    returning contact_messages.id, contact_messages.sent_to, contact_messages.body
  )
  select
    coalesce(jsonb_agg(jsonb_build_object(
      'id', tried.id, 'to', tried.sent_to, 'body', tried.body)), '[]'),
    count(*) filter (where tried.sent_to like '+%'),
    count(*) filter (where tried.sent_to not like '+%')
  into taken, sms, mails from tried;
  insert into private.sms_sent (hour, sent, mail) select this_hour, sms, mails where sms + mails > 0
  on conflict on constraint sms_sent_pkey do update
  set sent = sms_sent.sent + excluded.sent, mail = sms_sent.mail + excluded.mail;
  return taken;
end
$$;
comment on function private.take_contact_messages is
  'Job: assigns messages to one worker, which sends them. The only limit for these SMS is '
  'SMS_PER_DAY.';

create function private.finish_contact_message(id uuid) returns void
  language sql security definer set search_path = ''
as $$
  delete from private.contact_messages where contact_messages.id = finish_contact_message.id
$$;

create function private.purge_idempotency_keys() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.idempotency_keys', 'created_at', '24 hours')
$$;
comment on function private.purge_idempotency_keys is 'Job: deletes keys older than 24 hours.';

create function private.purge_known_addresses() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.known_addresses', 'known_until', '0')
$$;
comment on function private.purge_known_addresses is
  'Job: deletes addresses from which nobody has signed in for 90 days.';

create function private.purge_social_tokens() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.social_tokens', 'expires_at', '0')
    + private.purge('private.announced_sign_ins', 'expires_at', '0')
    + private.purge('private.announced_passwords', 'expires_at', '1 minute')
$$;
comment on function private.purge_social_tokens is 'Job: deletes expired tokens and announcements.';

create function private.banned_contacts_to_hash() returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object('id', waiting.id, 'value', waiting.value)), '[]')
  from (
    select banned_contacts.id, banned_contacts.value from private.banned_contacts
    where banned_contacts.value is not null
    limit 100
  ) as waiting
$$;

create function private.hash_banned_contacts(hashes jsonb) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  hashed record;
begin
  for hashed in
    select given.id, decode(given.hash, 'hex') as hash
    from jsonb_to_recordset(hashes) as given (id uuid, hash text)
    order by given.id
  loop
    -- If another account was banned earlier with the same contact, its row is deleted, so the year
    -- starts again.
    delete from private.banned_contacts
    where banned_contacts.hash = hashed.hash and banned_contacts.id <> hashed.id;
    update private.banned_contacts set value = null, hash = hashed.hash
    where banned_contacts.id = hashed.id and banned_contacts.value is not null;
  end loop;
end
$$;
comment on function private.hash_banned_contacts is
  'Replaces phones and emails of banned accounts with hashes computed by the edge functions.';

create function private.purge_banned_contacts() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.banned_contacts', 'banned_at', '1 year')
$$;
comment on function private.purge_banned_contacts is
  'Job: deletes the contacts of accounts that were banned a year ago.';

grant execute on function
  private.take_contact_messages, private.finish_contact_message,
  private.end_suspensions, private.end_sessions_left, private.end_surplus_sessions,
  private.take_apple_revocations, private.finish_apple_revocation,
  private.purge_codes, private.purge_idempotency_keys, private.purge_known_addresses,
  private.purge_social_tokens, private.banned_contacts_to_hash, private.hash_banned_contacts,
  private.purge_banned_contacts
  to backend;
