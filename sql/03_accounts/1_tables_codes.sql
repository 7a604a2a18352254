-- Codes by SMS and mail, and registrations by phone, which are attempts until a code proves them.
--
-- Nothing here can be read back: a code is kept as an HMAC and a password sealed, both with keys
-- that only the functions hold. Unknown identifiers get rows like known ones, so that no answer and
-- no number of tries tells whether an account exists. Guessing: 03_accounts/5_writes_codes.sql.

create function private.code_terms(
  out resend_after integer, out life interval, out attempt_life interval,
  out tries integer, out stranger_tries integer
)
  language sql
  immutable
  set search_path = ''
as $$
  select 45, interval '5 minutes', interval '1 hour', 5, 3
$$;
comment on function private.code_terms is
  'The figures of codes, each standing here alone: seconds until another one may be asked for, how '
  'long a code and an attempt live, wrong tries of whoever asked for it or names its attempt, and '
  'of all others together.';

create table private.registrations (
  id uuid primary key,
  phone text not null,
  sealed_password text,
  full_name text,
  created_at timestamptz not null default now()
);
comment on table private.registrations is
  'Attempts to register a phone, refused ones too; gone at verification or after an hour.';
comment on column private.registrations.id is 'The attempt''s secret name (registrationId).';
comment on column private.registrations.phone is 'As +965XXXXXXXX.';
comment on column private.registrations.sealed_password is
  'AES-GCM, with a key of the functions; null where the last attempts were refused and have no code.';
comment on column private.registrations.full_name is 'The name given, if any.';
comment on column private.registrations.created_at is 'An attempt lives for an hour.';
create index registrations_phone_idx on private.registrations (phone, created_at desc);
create index registrations_created_at_idx on private.registrations (created_at);
-- Of those that were refused one row says enough: that somebody else may have tried.
create unique index registrations_refused_key on private.registrations (phone)
  where sealed_password is null;
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
  asked_by bytea,
  tries integer not null default 0,
  stranger_tries integer not null default 0,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  replaced boolean not null default false,
  constraint codes_tries_are_few check (
    tries between 0 and (private.code_terms()).tries
    and stranger_tries between 0 and (private.code_terms()).stranger_tries
  )
);
comment on table private.codes is 'One-time codes: a short life, few tries, one use.';
comment on column private.codes.id is 'Names it while it is being used.';
comment on column private.codes.purpose is 'register, reset or delete; a code is for one of them.';
comment on column private.codes.identifier is 'The phone or email it was sent to.';
comment on column private.codes.registration_id is 'The attempt it belongs to (register).';
comment on column private.codes.account_id is 'The account it is for; null where there is none.';
comment on column private.codes.hmac is 'HMAC-SHA256 of purpose, identifier and code.';
comment on column private.codes.asked_by is
  'From which address, as private.address_mark of the identifier; null is none that is known.';
comment on column private.codes.tries is
  'Wrong codes of whoever named its attempt or came from the address that asked for it.';
comment on column private.codes.stranger_tries is 'Wrong codes of all others together.';
comment on column private.codes.created_at is 'When it was made.';
comment on column private.codes.used_at is 'When it was used.';
comment on column private.codes.replaced is 'A newer code took its place.';
create index codes_identifier_idx on private.codes (identifier, purpose, created_at desc);
create index codes_registration_idx on private.codes (registration_id);
create index codes_account_idx on private.codes (account_id);
create index codes_created_at_idx on private.codes (created_at);
alter table private.codes enable row level security;
create policy "nobody but functions of their owner" on private.codes using (false);

create function private.code_wait(purpose text, identifier text, asked_by bytea) returns integer
  language sql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
  -- One after another for whoever asks. For the codes of an account each address waits for its own
  -- only: else a stranger who asked a moment before would have the owner's request dropped, without
  -- a word where a password was forgotten. A phone that is being registered waits as a whole: it is
  -- nobody's yet, whoever has to wait is told for how long, and of twenty attempts at once one sends.
  select greatest(0, ceil((private.code_terms()).resend_after
    - extract(epoch from clock_timestamp() - max(codes.created_at))))::integer
  from private.codes
  where codes.identifier = code_wait.identifier and codes.purpose = code_wait.purpose
    and (code_wait.purpose = 'register' or codes.asked_by = code_wait.asked_by)
$$;
comment on function private.code_wait is
  'Seconds until this address may ask for another code; 0 or null is now.';

create function private.code_refusal(
  purpose text, identifier text, asked_by bytea, address text, is_known boolean
) returns jsonb
  language plpgsql
  security definer -- counts in a closed table
  set search_path = ''
as $$
declare
  wait constant integer := private.code_wait(purpose, identifier, asked_by);
  pair constant text := address || ' ' || identifier;
  counted record;
begin
  if wait > 0 then
    return jsonb_build_object(
      'code', 'otp_resend_too_soon', 'detail', jsonb_build_object('retryAfter', wait));
  end if;
  -- The service's own ceiling comes last, so that one noisy caller cannot use it up. Strangers share
  -- what they have; an address that the account knows has codes of its own.
  if is_known then
    counted := private.count_hits(
      '{code_address,code_known_hour,code_known_day,code_service}',
      array[address, pair, pair, 'all']);
  else
    counted := private.count_hits(
      '{code_address,code_stranger_hour,code_stranger_day,code_strangers_hour,code_strangers_day,'
        'code_service}',
      array[address, pair, pair, identifier, identifier, 'all']);
  end if;
  return case when counted.refused is not null then jsonb_build_object(
    'code', case counted.refused
      when 'code_service' then 'service_unavailable' else 'rate_limited' end,
    'rule', counted.refused,
    'detail', jsonb_build_object('retryAfter', counted.reset)) end;
end
$$;
comment on function private.code_refusal is
  'Counts one code sent. The refusal, which counts nowhere, when it comes too soon or the address, '
  'the phone or email or the service is at its rate.';

create function private.add_code(
  purpose text, identifier text, hmac text, asked_by bytea, registration_id uuid, account_id uuid,
  is_named boolean
) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
begin
  update private.codes set replaced = true
  where codes.identifier = add_code.identifier and codes.purpose = add_code.purpose
    and codes.registration_id is not distinct from add_code.registration_id
    and (is_named or codes.asked_by = add_code.asked_by)
    and not codes.replaced;
  insert into private.codes (purpose, identifier, hmac, asked_by, registration_id, account_id)
  values (purpose, identifier, decode(hmac, 'hex'), asked_by, registration_id, account_id);
end
$$;
comment on function private.add_code is
  'A new code. The one before it for the same attempt dies, unless another address asked for that '
  'and nobody named the attempt.';

create function private.request_code(
  purpose text, identifier text, registration_id uuid, hmac text, address text, address_hash text
) returns jsonb
  language plpgsql
  security definer -- for guests: reads accounts and writes closed tables
  set search_path = ''
as $$
declare
  terms constant record := private.code_terms();
  asker constant bytea := private.address_mark(identifier, address_hash);
  answer jsonb := jsonb_build_object(
    'resendAfter', terms.resend_after, 'expiresIn', extract(epoch from terms.life)::integer);
  holder constant uuid := private.account_with(identifier);
  refusal jsonb;
  attempt uuid;
  account uuid;
begin
  perform pg_advisory_xact_lock(hashtextextended('code ' || identifier, 0));
  refusal := private.code_refusal(
    purpose, identifier, asker, address, private.is_known_address(holder, address_hash));
  if refusal is not null then
    return answer || jsonb_build_object('error', refusal);
  end if;

  if purpose = 'register' then
    select registrations.id into attempt from private.registrations
    where registrations.phone = identifier
      and registrations.sealed_password is not null
      and registrations.created_at > now() - terms.attempt_life
      and registrations.id = coalesce(request_code.registration_id, registrations.id)
    -- Who does not name an attempt most likely means the own one.
    order by exists (
      select from private.codes
      where codes.registration_id = registrations.id and codes.asked_by = asker
    ) desc, registrations.created_at desc
    limit 1;
  else
    select accounts.id into account from public.accounts
    where accounts.id = holder and private.may_act(accounts);
  end if;
  perform private.add_code(
    purpose, identifier, hmac, asker, attempt, account, request_code.registration_id is not null);
  return answer || jsonb_build_object('send', coalesce(attempt, account) is not null);
end
$$;
comment on function private.request_code is
  'A new code for an attempt or an account, or {error}: raising would take the count back. An '
  'unknown identifier gets one too, which is never sent.';

create function private.sweep_codes() returns bigint
  language sql
  security definer -- deletes from closed tables
  set search_path = ''
as $$
  select private.sweep('private.registrations', 'created_at', (private.code_terms()).attempt_life)
    + private.sweep('private.email_claims', 'claimed_at', '1 hour')
    + private.sweep('private.codes', 'created_at', '1 day')
$$;
comment on function private.sweep_codes is 'Job: forgets old attempts, claims and codes.';

grant execute on function private.request_code, private.sweep_codes to backend;
