-- When somebody registers by email, the email is reserved while Auth creates the user. Registering
-- by phone requires a code.

create function private.count_registration(address text) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  counted constant record := private.count_hits('{register_address}', array[address]);
begin
  return jsonb_build_object(
    'rate', format('%s,%s,%s', counted."limit", counted.remaining, counted.reset),
    'hits', coalesce(counted.hits, '[]'))
  || case when counted.refused is null then '{}' else jsonb_build_object('error', jsonb_build_object(
    'code', 'rate_limited', 'detail', jsonb_build_object('retryAfter', counted.reset))) end;
end
$$;
comment on function private.count_registration is
  'Counts a registration from an IP address. Returns rate and hits, and error if it is refused.';

create function private.taken_error(code text, address text, path text default 'identifier')
  returns jsonb
  language plpgsql set search_path = ''
as $$
begin
  -- This response reveals that an account exists, so it is counted as five registrations.
  perform private.count_hits('{register_address}', array[address]) from generate_series(1, 4);
  return jsonb_build_object('error', jsonb_build_object('code', code, 'detail', jsonb_build_object(
    'fields', jsonb_build_array(jsonb_build_object('path', path, 'code', code)))));
end
$$;

create function private.claim_email(
  email text, banned_hash text, address text default null
) returns jsonb
  language plpgsql
  security definer -- reads accounts for guests, and writes tables closed to clients
  set search_path = ''
as $$
declare
  answer constant jsonb :=
    case when address is null then '{}' else private.count_registration(address) end;
begin
  perform private.require_open();
  if answer ? 'error' then
    return answer;
  end if;
  -- Of many concurrent calls for an email, only one makes Auth hash a password. The others are
  -- refused without waiting.
  insert into private.email_claims (email, address)
  select claim_email.email, claim_email.address
  where not exists (select from public.accounts where accounts.email = claim_email.email)
    and not private.is_banned_contact(claim_email.email, banned_hash)
  on conflict on constraint email_claims_pkey do update
  set claimed_at = now(), address = excluded.address
  where email_claims.claimed_at < now() - interval '10 seconds';
  return case when found then answer else answer || private.taken_error('email_taken', address) end;
end
$$;
comment on function private.claim_email is
  'Reserves an email while Auth creates its user. Refusals are returned as {error}, so that the '
  'counts are kept.';

create function private.release_email(email text) returns void
  language sql security definer set search_path = ''
as $$
  delete from private.email_claims where email_claims.email = release_email.email
$$;

create function private.add_refused_registration(phone text) returns void
  language plpgsql security definer set search_path = ''
as $$
#variable_conflict use_column
begin
  perform private.require_open();
  -- Records the attempt, because the refused person may type a code that somebody else had sent to
  -- this phone.
  insert into private.registrations (id, phone)
  values (gen_random_uuid(), add_refused_registration.phone)
  on conflict (phone) where sealed_password is null do update set created_at = now();
end
$$;

create function private.register_phone(
  phone text, registration_id uuid, sealed_password text, full_name text, hmac text,
  banned_hash text, address text, address_hash text, sms_per_day integer,
  terms_version text default null
) returns jsonb
  language plpgsql
  security definer -- reads accounts for guests, and writes tables closed to clients
  set search_path = ''
as $$
declare
  terms constant record := private.code_limits();
  requester constant bytea := private.address_mark(phone, address_hash);
  answer jsonb := jsonb_build_object(
    'resendAfter', terms.resend_after, 'expiresIn', extract(epoch from terms.life)::integer);
  hits jsonb;
begin
  perform private.require_open();
  perform pg_advisory_xact_lock(hashtextextended('code ' || phone, 0));
  answer := answer || private.count_registration(address);
  hits := answer -> 'hits';
  if not answer ? 'error' then
    if private.is_banned_contact(phone, banned_hash)
      or exists (select from public.accounts where accounts.phone = register_phone.phone) then
      return answer || private.taken_error('phone_taken', address);
    end if;
    -- A phone without an account has no known addresses.
    answer := answer
      || private.count_code('register', phone, requester, address, false, true, sms_per_day);
  end if;

  if answer ? 'error' then
    perform private.add_refused_registration(phone),
      -- No code was sent, so the count is undone. Otherwise an attacker could also block
      -- registrations by email.
      private.uncount_hits(hits);
    return answer;
  end if;
  insert into private.registrations (id, phone, sealed_password, full_name, terms_version)
  values (registration_id, phone, sealed_password, full_name, terms_version);
  perform private.add_code('register', phone, hmac, requester, registration_id, null, true);
  return answer;
end
$$;
comment on function private.register_phone is
  'Stores a registration and its code. Refusals are returned as {error}, so that the counts are '
  'kept.';

create function private.is_crowded(subject text, "limit" integer, seconds integer) returns boolean
  language sql stable set search_path = ''
as $$
  select count(*) >= "limit"
  from (
    select from private.email_registrations
    where email_registrations.subject = is_crowded.subject
      and email_registrations.created_at > clock_timestamp() - make_interval(secs => seconds)
    limit "limit"
  ) as registered
$$;
comment on function private.is_crowded is
  'Whether the limit of unproven accounts from this IP address is reached.';

create function private.note_registration(account_id uuid, address text) returns void
  language plpgsql set search_path = ''
as $$
declare
  rate private.rates;
  subjects constant text[] := private.rate_subjects(address);
begin
  select * into rate from private.rates
  where rates.rule = 'proof_first' and rates.max < 1000000;
  if not found then
    return;
  end if;
  -- Registrations from one IP address are serialised, so that every account beyond the limit is
  -- marked.
  perform pg_advisory_xact_lock(
    hashtextextended('registered at ' || subjects[cardinality(subjects)], 0));
  if private.can_be_proven() and (
    private.is_crowded(subjects[1], rate.max, rate.seconds)
    or private.is_crowded(subjects[2], rate.max * 10, rate.seconds)
  ) then
    update public.accounts set proof_first = true where accounts.id = note_registration.account_id;
  end if;
  insert into private.email_registrations (account_id, subject)
  select note_registration.account_id, subject from unnest(subjects) as subject;
end
$$;
comment on function private.note_registration is
  'Records a registration, and sets proof_first if the limit of its IP address is reached.';

create function private.forget_registration() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from private.email_registrations where email_registrations.account_id = new.id;
  return null;
end
$$;
comment on function private.forget_registration is
  'Deletes the IP addresses of a proven account, so that it no longer counts as an unproven one.';

create trigger accounts_are_proven
  after update of phone, email_proven on public.accounts
  for each row when (new.phone is not null or new.email_proven)
  execute function private.forget_registration();

create function private.end_registrations() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op = 'INSERT' then
    perform private.note_registration(new.id, email_claims.address) from private.email_claims
    where email_claims.email = new.email and email_claims.address is not null;
  end if;
  delete from private.registrations where registrations.phone = new.phone;
  delete from private.email_claims where email_claims.email = new.email;
  update private.codes set replaced = true
  where codes.identifier in (new.phone, new.email) and codes.used_at is null;
  return new;
end
$$;
comment on function private.end_registrations is
  'Ends the registrations and codes of a contact that an account has now, and records a new '
  'account for the limit of its IP address.';

create trigger accounts_end_registrations
  after insert or update of phone, email on public.accounts
  for each row execute function private.end_registrations();

grant execute on function
  private.claim_email, private.release_email, private.register_phone, private.add_refused_registration
  to backend;
