-- Codes for unknown identifiers are stored too, so that no response reveals which accounts exist.

create function private.add_code(
  purpose text, identifier text, hmac text, requested_by bytea, registration_id uuid,
  account_id uuid, is_named boolean, reset_id uuid default null, change_id uuid default null
) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  update private.codes set replaced = true
  where codes.identifier = add_code.identifier and codes.purpose = add_code.purpose
    and (codes.registration_id, codes.change_id)
      is not distinct from (add_code.registration_id, add_code.change_id)
    and (is_named or codes.requested_by = add_code.requested_by)
    and not codes.replaced;
  insert into private.codes
    (purpose, identifier, hmac, requested_by, registration_id, account_id, reset_id, change_id)
  values
    (purpose, identifier, decode(hmac, 'hex'), requested_by, registration_id, account_id, reset_id,
      change_id);
end
$$;
comment on function private.add_code is
  'Adds a code, which replaces the previous one. A code that was requested from another IP address '
  'is replaced only if this request names the registration or change.';

create function private.request_code(
  purpose text, identifier text, registration_id uuid, account_id uuid, hmac text, address text,
  address_hash text, sms_per_day integer
) returns jsonb
  language plpgsql
  security definer -- reads accounts for guests, and writes tables closed to clients
  set search_path = ''
as $$
declare
  terms constant record := private.code_limits();
  requester constant bytea := private.address_mark(identifier, address_hash);
  holder constant uuid := private.account_with(identifier);
  answer jsonb;
  reset uuid;
  attempt uuid;
  account uuid;
begin
  -- For the other purposes, the facade has already called require_open as the caller.
  if purpose in ('register', 'reset') then
    perform private.require_open();
  end if;
  perform pg_advisory_xact_lock(hashtextextended('code ' || identifier, 0));
  if purpose = 'register' then
    select registrations.id into attempt from private.registrations
    where registrations.phone = identifier
      and registrations.sealed_password is not null
      and registrations.created_at > now() - terms.attempt_life
      and registrations.id = coalesce(request_code.registration_id, registrations.id)
    -- Without a registrationId, the caller most likely means the registration that they started
    -- themselves.
    order by exists (
      select from private.codes
      where codes.registration_id = registrations.id and codes.requested_by = requester
    ) desc, registrations.created_at desc
    limit 1;
  else
    select accounts.id into account from public.accounts
    where accounts.id = holder and not private.is_locked(accounts)
      and (purpose = 'reset' or holder = request_code.account_id)
      -- An email that was only registered, but never proven, does not identify the account's owner.
      and (purpose not in ('change', 'sudo') or accounts.phone = identifier
        or accounts.email_proven);
  end if;
  if purpose = 'reset' then
    -- Requests from the same IP address share one resetId, even if one of them comes too soon.
    select codes.reset_id into reset from private.codes
    where codes.identifier = request_code.identifier and codes.purpose = 'reset'
      and codes.requested_by = requester and codes.created_at > now() - terms.attempt_life
    order by codes.created_at desc
    limit 1;
    reset := coalesce(reset, gen_random_uuid());
  end if;

  answer := jsonb_build_object(
    'resendAfter', terms.resend_after, 'expiresIn', extract(epoch from terms.life)::integer,
    'resetId', reset, 'send', coalesce(attempt, account) is not null);
  begin
    answer := answer || private.count_code(
      purpose, identifier, requester, address, private.is_known_address(holder, address_hash),
      (answer ->> 'send')::boolean, sms_per_day);
    if answer ? 'error' then
      return answer || '{"send":false}';
    end if;
    perform private.add_code(
      purpose, identifier, hmac, requester, attempt, account,
      request_code.registration_id is not null, reset);
  exception
    when read_only_sql_transaction or insufficient_resources then
      -- A request for a forgotten password gets the usual response, even if no code can be sent.
      if purpose <> 'reset' then
        raise;
      end if;
      return answer || '{"send":false}';
  end;
  return answer;
end
$$;
comment on function private.request_code is
  'Adds a code and counts it. A refusal is returned as {error}, because raising an error would '
  'undo the count. For an unknown identifier the response is the same, but no code is sent. '
  'account_id is the signed-in account, if any.';

create function private.same_bytes(a bytea, b bytea) returns boolean
  language sql set search_path = ''
as $$
  -- The digests are salted, so the time of the comparison reveals nothing about a or b.
  select sha256(a || salt) = sha256(b || salt)
  from (select uuid_send(gen_random_uuid()) as salt) as once
$$;

create function private.codes_to_compare(
  purpose text, identifier text, requester bytea,
  registration_id uuid, reset_id uuid, change_id uuid,
  out own uuid[], out others uuid[], out tries_left integer, out expired boolean, out named boolean
)
  language plpgsql stable set search_path = ''
as $$
declare
  terms constant record := private.code_limits();
begin
  select
    coalesce(array_agg(sent.id) filter (where sent.alive and sent.own and sent.tries_left > 0), '{}'),
    coalesce(array_agg(sent.id) filter (where sent.alive and not sent.own and sent.tries_left > 0), '{}'),
    max(sent.tries_left) filter (where sent.alive),
    bool_or(not sent.alive),
    coalesce(bool_or(sent.named), false)
  into own, others, tries_left, expired, named
  from (
    select codes.id, codes.named, codes.own,
      codes.created_at > now() - terms.life
        and coalesce(registrations.created_at > now() - terms.attempt_life, true) as alive,
      case when codes.own then terms.tries - codes.tries
        else terms.unknown_tries - codes.unknown_tries end as tries_left
    from (
      select codes.*, attempt.named, attempt.named or coalesce(codes.requested_by = requester, false) as own
      from private.codes
      cross join lateral (select coalesce(
        codes.registration_id = codes_to_compare.registration_id
        or codes.reset_id = codes_to_compare.reset_id
        or codes.change_id = codes_to_compare.change_id, false) as named) as attempt
    ) as codes
    left join private.registrations on registrations.id = codes.registration_id
    where codes.identifier = codes_to_compare.identifier
      and codes.purpose = codes_to_compare.purpose
      and not codes.replaced and codes.used_at is null
      and codes.created_at > now() - terms.attempt_life
      and (codes_to_compare.registration_id is null
        or codes.registration_id = codes_to_compare.registration_id)
      and codes.change_id is not distinct from codes_to_compare.change_id
  ) as sent;
end
$$;
comment on function private.codes_to_compare is
  'The codes that a guess is compared with. own are the codes of the registration, reset or change '
  'that the guess names, and codes requested from the same IP address; others are all other codes.';

create function private.use_code(
  code private.codes, address text, address_hash text, is_named boolean
) returns jsonb
  language plpgsql set search_path = ''
as $$
declare
  attempts integer;
begin
  update private.codes set used_at = now() where codes.id = code.id;
  perform private.count_use(code.identifier, address, address_hash);
  -- Known addresses are deleted even if the reset fails later, because they may be an attacker's.
  delete from private.known_addresses
  where code.purpose = 'reset' and known_addresses.account_id = code.account_id;
  select count(*) into attempts from private.registrations
  where registrations.phone = code.identifier
    and registrations.created_at > now() - (private.code_limits()).contested_for;
  -- If a phone has several registrations, the code may belong to somebody else's, so the data of a
  -- registration is returned only if the guess names it. Old and refused registrations count too,
  -- because the person who made one may type the code of another.
  return (
    select jsonb_build_object(
      'codeId', code.id,
      'accountId', code.account_id,
      'fullName', registrations.full_name,
      'termsVersion', registrations.terms_version,
      'sealedPassword', registrations.sealed_password)
    from (select) as one
    left join private.registrations on registrations.id = code.registration_id
      and (is_named or attempts = 1)
  );
end
$$;
comment on function private.use_code is
  'Marks a code as used and returns the data of its registration. is_named means that the guess '
  'named the registration.';

create function private.verify_code(
  purpose text, identifier text, hmac text, address text, address_hash text,
  registration_id uuid default null, reset_id uuid default null, change_id uuid default null
) returns jsonb
  language plpgsql
  security definer -- reads and writes tables closed to clients
  set search_path = ''
as $$
declare
  guess constant bytea := decode(hmac, 'hex');
  requester constant bytea := private.address_mark(identifier, address_hash);
  pair constant text := address || ' ' || identifier;
  recent record;
  compared uuid[];
  rules text[];
  counted record;
  code private.codes;
begin
  -- For the other purposes, the facade has already called require_open as the caller.
  if purpose in ('register', 'reset') then
    perform private.require_open();
  end if;
  perform pg_advisory_xact_lock(hashtextextended('code ' || identifier, 0));
  recent := private.codes_to_compare(
    purpose, identifier, requester, registration_id, reset_id, change_id);

  -- A guess is counted as wrong before it is compared. After too many wrong guesses, no guess is
  -- compared.
  compared := recent.own || recent.others;
  rules := array[case when compared <> '{}' then 'code_wrong_identifier' end, 'code_wrong_address'];
  counted := private.count_hits(rules, array[pair, address]);
  if counted.refused = 'code_wrong_address' and recent.named then
    -- A guess that names its attempt is exempt from the limit of the IP address, which other people
    -- there could use up.
    counted := private.count_hits(rules[:1], array[pair]);
  end if;
  if counted.refused is not null then
    return jsonb_build_object('error', jsonb_build_object(
      'code', 'otp_locked', 'detail', jsonb_build_object('retryAfter', counted.reset)));
  end if;

  select * into code from private.codes
  where codes.id = any (compared) and private.same_bytes(codes.hmac, guess)
    -- A code that was never sent must not be accepted.
    and coalesce(codes.registration_id, codes.account_id) is not null
  order by codes.created_at desc
  limit 1;
  update private.codes
  set tries = codes.tries + (codes.id = any (recent.own))::integer,
      unknown_tries = codes.unknown_tries + (codes.id = any (recent.others))::integer
  where codes.id = any (compared) and codes.id is distinct from code.id;

  if code.id is not null then
    perform private.uncount_hits(counted.hits);
    return private.use_code(code, address, address_hash, registration_id is not null);
  end if;

  return jsonb_build_object('error', case
    when recent.tries_left <= 0 then jsonb_build_object(
      'code', 'otp_locked', 'detail', jsonb_build_object(
        'retryAfter', greatest(1, private.code_wait(purpose, identifier, requester))))
    when recent.tries_left is null and recent.expired then
      '{"code":"otp_expired","detail":{}}'
    else jsonb_build_object(
      'code', 'otp_invalid', 'detail', jsonb_build_object(
        'attemptsLeft', coalesce(recent.tries_left - 1, 0),
        'fields', '[{"path":"code","code":"otp_invalid"}]'::jsonb))
  end);
end
$$;
comment on function private.verify_code is
  'Returns {error} for a wrong guess. A wrong guess uses up a try of each code that it was '
  'compared with. It counts towards the limit of the IP address and, if there is a valid code, '
  'towards the limit of this IP address for this identifier.';

create function private.release_code(code_id uuid) returns void
  language sql security definer set search_path = ''
as $$
  update private.codes set used_at = null where codes.id = release_code.code_id
$$;
comment on function private.release_code is
  'Makes a code valid again if the step that needed it failed through no fault of the caller.';

grant execute on function
  private.request_code, private.verify_code, private.release_code
  to backend;
