-- Codes by SMS and mail, and registrations by phone, which are attempts until a code proves them.
--
-- Nothing here can be read back: a code is kept as an HMAC and a password sealed, both with keys
-- that only the functions hold. Unknown identifiers get rows like known ones, so that no answer and
-- no number of tries tells whether an account exists.

create table private.registrations (
  id uuid primary key,
  phone text not null,
  sealed_password text not null,
  full_name text,
  created_at timestamptz not null default now()
);
comment on table private.registrations is
  'Attempts to register a phone; gone at verification or after an hour.';
comment on column private.registrations.id is 'The attempt''s secret name (registrationId).';
comment on column private.registrations.phone is 'As +965XXXXXXXX.';
comment on column private.registrations.sealed_password is 'AES-GCM, with a key of the functions.';
comment on column private.registrations.full_name is 'The name given, if any.';
comment on column private.registrations.created_at is 'An attempt lives for an hour.';
create index registrations_phone_idx on private.registrations (phone, created_at desc);
create index registrations_created_at_idx on private.registrations (created_at);
alter table private.registrations enable row level security;
create policy "nobody but functions of their owner" on private.registrations using (false);

create table private.codes (
  id uuid primary key default gen_random_uuid(),
  purpose text not null
    constraint codes_purpose_is_known check (purpose in ('register', 'reset', 'delete')),
  identifier text not null,
  registration_id uuid references private.registrations (id) on delete cascade,
  account_id uuid references public.accounts (id) on delete cascade,
  hmac bytea not null,
  tries integer not null default 0 constraint codes_five_tries check (tries between 0 and 5),
  created_at timestamptz not null default now(),
  used_at timestamptz,
  replaced boolean not null default false
);
comment on table private.codes is 'One-time codes: five minutes, five tries, one use.';
comment on column private.codes.id is 'Names it while it is being used.';
comment on column private.codes.purpose is 'register, reset or delete; a code is for one of them.';
comment on column private.codes.identifier is 'The phone or email it was sent to.';
comment on column private.codes.registration_id is 'The attempt it belongs to (register).';
comment on column private.codes.account_id is 'The account it is for; null where there is none.';
comment on column private.codes.hmac is 'HMAC-SHA256 of purpose, identifier and code.';
comment on column private.codes.tries is 'Wrong codes so far.';
comment on column private.codes.created_at is 'When it was made; it lives for five minutes.';
comment on column private.codes.used_at is 'When it was used.';
comment on column private.codes.replaced is 'A newer code took its place.';
create index codes_identifier_idx on private.codes (identifier, purpose, created_at desc);
create index codes_registration_idx on private.codes (registration_id);
create index codes_account_idx on private.codes (account_id);
create index codes_created_at_idx on private.codes (created_at);
alter table private.codes enable row level security;
create policy "nobody but functions of their owner" on private.codes using (false);

create table private.email_claims (
  email text primary key,
  claimed_at timestamptz not null default now()
);
comment on table private.email_claims is 'Emails that somebody registers just now.';
comment on column private.email_claims.email is 'In its one form.';
comment on column private.email_claims.claimed_at is 'A claim counts for ten seconds.';
create index email_claims_claimed_at_idx on private.email_claims (claimed_at);
alter table private.email_claims enable row level security;
create policy "nobody but functions of their owner" on private.email_claims using (false);

create function private.same_bytes(a bytea, b bytea) returns boolean
  language sql
  set search_path = ''
as $$
  -- Salted digests differ from the first byte on, so the time says nothing about a or b.
  select sha256(a || salt) = sha256(b || salt)
  from (select uuid_send(gen_random_uuid()) as salt) as once
$$;
comment on function private.same_bytes is 'Equality in constant time.';

create function private.code_wait(purpose text, identifier text) returns integer
  language sql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
  select greatest(0, ceil(45 - extract(epoch from clock_timestamp() - max(codes.created_at))))::integer
  from private.codes
  where codes.identifier = code_wait.identifier and codes.purpose = code_wait.purpose
$$;
comment on function private.code_wait is
  'Seconds until a new code may be asked for: 45 after the last; 0 or null is now.';

create function private.code_refusal(identifier text, address text) returns jsonb
  language plpgsql
  security definer -- counts in a closed table
  set search_path = ''
as $$
declare
  -- The service's own ceiling comes last, so that one noisy caller cannot use it up.
  rules constant text[] := array[
    'code_address', 'code_identifier_hour', 'code_identifier_day', 'code_service'];
  subjects constant text[] := array[address, identifier, identifier, 'all'];
  hits timestamptz[];
  counted record;
begin
  for nth in 1 .. 4 loop
    select * into counted from private.count_hit(rules[nth], subjects[nth]);
    if counted.hit is null then
      -- What is refused is not sent and counts nowhere.
      perform private.forget_hit(rules[earlier], subjects[earlier], hits[earlier])
      from generate_series(1, nth - 1) as earlier;
      return jsonb_build_object(
        'status', case rules[nth] when 'code_service' then 503 else 429 end,
        'code', case rules[nth]
          when 'code_service' then 'service_unavailable' else 'rate_limited' end,
        'rule', rules[nth],
        'detail', jsonb_build_object('retryAfter', counted.reset));
    end if;
    hits[nth] := counted.hit;
  end loop;
  return null;
end
$$;
comment on function private.code_refusal is
  'Counts one code sent; the refusal when the phone or email, the address or the service is at its rate.';

create function private.add_code(
  purpose text, identifier text, hmac bytea, registration_id uuid, account_id uuid
) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  update private.codes set replaced = true
  where codes.identifier = add_code.identifier and codes.purpose = add_code.purpose
    and codes.registration_id is not distinct from add_code.registration_id
    and not codes.replaced;
  insert into private.codes (purpose, identifier, hmac, registration_id, account_id)
  values (purpose, identifier, hmac, registration_id, account_id);
end
$$;
comment on function private.add_code is 'A new code; the one before it for the same attempt dies.';

create function private.claim_email(email text) returns void
  language plpgsql
  security definer -- for guests: reads accounts and writes a closed table
  set search_path = ''
as $$
begin
  -- Of fifty at once one makes Auth hash a password; the others need not wait for it to know.
  insert into private.email_claims (email)
  select claim_email.email
  where not exists (select from public.accounts where accounts.email = claim_email.email)
  on conflict on constraint email_claims_pkey do update set claimed_at = now()
  where email_claims.claimed_at < now() - interval '10 seconds';
  if not found then
    perform private.refuse(409, 'email_taken', '{"fields":[{"path":"identifier","code":"email_taken"}]}');
  end if;
end
$$;
comment on function private.claim_email is
  'Lets one caller at a time register an email; 409 email_taken for the others and where it is taken.';

create function private.release_email(email text) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  delete from private.email_claims where email_claims.email = release_email.email
$$;
comment on function private.release_email is 'After a registration that failed: the next may try.';

create function private.register_phone(
  phone text, registration_id uuid, sealed_password text, full_name text, hmac text, address text
) returns jsonb
  language plpgsql
  security definer -- for guests: writes closed tables
  set search_path = ''
as $$
declare
  wait integer;
  refusal jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('code ' || phone, 0));
  if exists (select from public.accounts where accounts.phone = register_phone.phone) then
    perform private.refuse(409, 'phone_taken', '{"fields":[{"path":"identifier","code":"phone_taken"}]}');
  end if;
  wait := private.code_wait('register', phone);
  if wait > 0 then
    return jsonb_build_object('error', jsonb_build_object(
      'status', 429, 'code', 'otp_resend_too_soon', 'detail', jsonb_build_object('retryAfter', wait)));
  end if;
  refusal := private.code_refusal(phone, address);
  if refusal is not null then
    return jsonb_build_object('error', refusal);
  end if;

  insert into private.registrations (id, phone, sealed_password, full_name)
  values (registration_id, phone, sealed_password, full_name);
  perform private.add_code('register', phone, decode(hmac, 'hex'), registration_id, null);
  return jsonb_build_object('send', true);
end
$$;
comment on function private.register_phone is
  'An attempt to register a phone and its code. Refusals that were counted come as {error}: '
  'raising would take the count back.';

create function private.request_code(
  purpose text, identifier text, registration_id uuid, hmac text, address text
) returns jsonb
  language plpgsql
  security definer -- for guests: reads accounts and writes closed tables
  set search_path = ''
as $$
declare
  wait integer;
  refusal jsonb;
  attempt uuid;
  account uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('code ' || identifier, 0));
  wait := private.code_wait(purpose, identifier);
  if wait > 0 then
    return jsonb_build_object('error', jsonb_build_object(
      'status', 429, 'code', 'otp_resend_too_soon', 'detail', jsonb_build_object('retryAfter', wait)));
  end if;
  refusal := private.code_refusal(identifier, address);
  if refusal is not null then
    return jsonb_build_object('error', refusal);
  end if;

  if purpose = 'register' then
    select registrations.id into attempt from private.registrations
    where registrations.phone = identifier
      and registrations.created_at > now() - interval '1 hour'
      and registrations.id = coalesce(request_code.registration_id, registrations.id)
    order by registrations.created_at desc
    limit 1;
  else
    select accounts.id into account from public.accounts
    where (accounts.email = identifier or accounts.phone = identifier)
      and private.may_act(accounts);
  end if;
  perform private.add_code(purpose, identifier, decode(hmac, 'hex'), attempt, account);
  return jsonb_build_object('send', coalesce(attempt, account) is not null);
end
$$;
comment on function private.request_code is
  'A new code for an attempt or an account. An unknown identifier gets one too, which is never sent.';

create function private.verify_code(
  purpose text, identifier text, hmac text, registration_id uuid default null
) returns jsonb
  language plpgsql
  security definer -- for guests: reads and writes closed tables
  set search_path = ''
as $$
declare
  guess constant bytea := decode(hmac, 'hex');
  alive record;
  counted record;
  hits timestamptz[];
  code private.codes;
  attempts integer;
begin
  perform pg_advisory_xact_lock(hashtextextended('code ' || identifier, 0));
  select
    coalesce(array_agg(id) filter (where fresh and tries < 5), '{}') as ids,
    max(tries) filter (where fresh and tries < 5) as tries,
    coalesce(bool_or(fresh and tries = 5), false) as locked,
    coalesce(bool_or(not fresh), false) as expired
  into alive
  from (
    select codes.id, codes.tries, codes.created_at > now() - interval '5 minutes' as fresh
    from private.codes
    where codes.identifier = verify_code.identifier and codes.purpose = verify_code.purpose
      and not codes.replaced and codes.used_at is null
      and codes.created_at > now() - interval '1 hour'
      and (verify_code.registration_id is null
        or codes.registration_id = verify_code.registration_id)
  ) as recent;

  -- A guess is one try for each code that it may hit, so that several attempts on one number do
  -- not make it likelier that one of ten guesses is right.
  for nth in 1 .. greatest(1, cardinality(alive.ids)) loop
    select * into counted from private.count_hit('code_wrong', identifier);
    if counted.hit is null then
      return jsonb_build_object('error', jsonb_build_object(
        'status', 429, 'code', 'otp_locked',
        'detail', jsonb_build_object('retryAfter', counted.reset)));
    end if;
    hits[nth] := counted.hit;
  end loop;

  select * into code from private.codes
  where codes.id = any (alive.ids) and private.same_bytes(codes.hmac, guess)
  order by codes.created_at desc
  limit 1;
  if code.id is not null then
    update private.codes set used_at = now() where codes.id = code.id;
    perform private.forget_hit('code_wrong', identifier, hit) from unnest(hits) as hit;
    select count(*) into attempts from private.registrations
    where registrations.phone = verify_code.identifier
      and registrations.created_at > now() - interval '1 hour';
    return jsonb_build_object(
      'codeId', code.id,
      'accountId', code.account_id,
      'fullName', registrations.full_name,
      'sealedPassword', case
        when verify_code.registration_id is not null or attempts = 1
        then registrations.sealed_password end)
    from (select) as one
    left join private.registrations on registrations.id = code.registration_id;
  end if;

  update private.codes set tries = codes.tries + 1 where codes.id = any (alive.ids);
  return jsonb_build_object('error', case
    when alive.tries is null and alive.locked then jsonb_build_object(
      'status', 429, 'code', 'otp_locked', 'detail', jsonb_build_object(
        'retryAfter', greatest(1, private.code_wait(purpose, identifier))))
    when alive.tries is null and alive.expired then
      '{"status":410,"code":"otp_expired","detail":{}}'
    else jsonb_build_object(
      'status', 422, 'code', 'otp_invalid', 'detail', jsonb_build_object(
        'attemptsLeft', coalesce(4 - alive.tries, 0),
        'fields', '[{"path":"code","code":"otp_invalid"}]'::jsonb))
  end);
end
$$;
comment on function private.verify_code is
  'Tries a code: the used code with what it was for, or {error}. A wrong one counts against every '
  'open code that it was tried on, and against the identifier.';

create function private.release_code(code_id uuid) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  update private.codes set used_at = null where codes.id = release_code.code_id
$$;
comment on function private.release_code is
  'Gives a code back whose use failed for a reason that was not the caller''s.';

create function private.finish_reset(account_id uuid, identifier text) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  update public.accounts set email_proven = true, taken_over_at = null
  where accounts.id = finish_reset.account_id and accounts.email = finish_reset.identifier
$$;
comment on function private.finish_reset is 'After a reset by email that email is proven.';

create function private.end_registrations() returns trigger
  language plpgsql
  security definer -- writes closed tables, for whoever makes an account
  set search_path = ''
as $$
begin
  delete from private.registrations where registrations.phone = new.phone;
  delete from private.email_claims where email_claims.email = new.email;
  update private.codes set replaced = true
  where codes.identifier in (new.phone, new.email) and codes.used_at is null;
  return new;
end
$$;
comment on function private.end_registrations is
  'When an account takes a phone or email, every open attempt, claim and code on it ends.';

create trigger accounts_end_registrations
  after insert or update of phone, email on public.accounts
  for each row execute function private.end_registrations();

create function private.sweep_codes() returns bigint
  language sql
  security definer -- deletes from closed tables
  set search_path = ''
as $$
  with old_attempts as (
    select registrations.id from private.registrations
    where registrations.created_at < now() - interval '1 hour'
    order by registrations.created_at
    limit 1000
    for update skip locked
  ), gone_attempts as (
    delete from private.registrations using old_attempts
    where registrations.id = old_attempts.id
    returning 1
  ), old_claims as (
    select email_claims.email from private.email_claims
    where email_claims.claimed_at < now() - interval '1 hour'
    order by email_claims.claimed_at
    limit 1000
    for update skip locked
  ), gone_claims as (
    delete from private.email_claims using old_claims
    where email_claims.email = old_claims.email
    returning 1
  ), old_codes as (
    select codes.id from private.codes
    where codes.created_at < now() - interval '1 day'
    order by codes.created_at
    limit 1000
    for update skip locked
  ), gone_codes as (
    delete from private.codes using old_codes where codes.id = old_codes.id returning 1
  )
  select (select count(*) from gone_attempts) + (select count(*) from gone_claims)
    + (select count(*) from gone_codes)
$$;
comment on function private.sweep_codes is 'Job: forgets old attempts, claims and codes.';

revoke execute on all functions in schema private from public;
grant execute on function
  private.claim_email, private.release_email, private.register_phone, private.request_code,
  private.verify_code, private.release_code, private.finish_reset, private.sweep_codes
  to backend;
