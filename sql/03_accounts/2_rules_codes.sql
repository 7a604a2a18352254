-- Thousands of people may share an IP address, so the rate code_address counts only codes that are
-- sent, and each code that is used allows the address to request more. At worst, an attacker can
-- keep new numbers at that address from getting codes for an hour.

create function private.code_limits(
  out resend_after integer, out life interval, out attempt_life interval,
  out contested_for interval, out tries integer, out unknown_tries integer
)
  language sql immutable set search_path = ''
as $$
  select 45, interval '5 minutes', interval '1 hour', interval '24 hours', 5, 3
$$;
comment on function private.code_limits is
  'attempt_life is the time allowed to complete a registration or reset. Registrations of the same '
  'phone within contested_for compete with each other. unknown_tries is the number of guesses that '
  'all strangers share.';

alter table private.codes add constraint codes_tries_are_few check (
  tries between 0 and (private.code_limits()).tries
  and unknown_tries between 0 and (private.code_limits()).unknown_tries
);

create function private.code_wait(purpose text, identifier text, requested_by bytea) returns integer
  language sql stable security definer set search_path = ''
as $$
  -- An IP address has to wait only after a code that it requested itself, so no stranger can block
  -- the owner. A registration has to wait after any code to the phone, so only one of twenty
  -- concurrent registrations sends a code.
  select greatest(0, ceil((private.code_limits()).resend_after
    - extract(epoch from clock_timestamp() - max(codes.created_at))))::integer
  from private.codes
  where codes.identifier = code_wait.identifier and codes.purpose = code_wait.purpose
    and (code_wait.purpose = 'register' or codes.requested_by = code_wait.requested_by)
$$;
comment on function private.code_wait is
  'The number of seconds until the next code can be requested; 0 or null means now.';

create function private.code_rate_subject(identifier text, address text) returns text
  language sql immutable set search_path = ''
as $$
  -- Email addresses are free, so using codes sent by email must not allow more SMS.
  select address || case when identifier like '+%' then '' else ' mail' end
$$;

create function private.count_use(identifier text, address text, address_hash text) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  -- A code requested from a known address of the account does not count towards the address's limit,
  -- so using it must not raise that limit.
  if not private.is_known_address(private.account_with(identifier), address_hash)
    and (private.count_hit('code_used', identifier)).hit is not null then
    perform private.store_hit('code_used_address', subject)
    from unnest(private.rate_subjects(private.code_rate_subject(identifier, address))) as subject;
  end if;
end
$$;
comment on function private.count_use is
  'Lets the IP address request more codes after a code was used; counts once a day per contact.';

create function private.count_sending(
  is_sms boolean, is_favored boolean, sends boolean, sms_per_day integer,
  out reset integer, out alarm text
)
  language plpgsql security definer set search_path = ''
as $$
declare
  -- The last fifth of each limit is reserved for favored requests (see count_code).
  reserved constant numeric := 0.8;
  share constant numeric := case when is_favored then 1 else reserved end;
  a_minute constant integer := (select max from private.rates where rule = 'code_service');
  this_hour constant timestamptz := date_trunc('hour', clock_timestamp());
  today constant timestamptz := date_trunc('day', this_hour, 'Asia/Kuwait');
  per_hour constant numeric := ceil(sms_per_day / 12.0);
  counted record;
  sms integer;
  in_hour integer;
  in_day integer;
begin
  counted := private.count_hit('code_service', 'all', ceil(a_minute * share)::integer);
  if counted.hit is null then
    reset := counted.reset;
  else
    insert into private.sms_sent (hour, sent, mail)
    values (this_hour, is_sms::integer, (not is_sms)::integer)
    on conflict on constraint sms_sent_pkey do update
    set sent = sms_sent.sent + excluded.sent, mail = sms_sent.mail + excluded.mail
    returning sms_sent.sent into sms;
    if is_sms and sms_per_day > 0 then
      in_hour := sms;
      select sum(sms_sent.sent) into in_day from private.sms_sent where sms_sent.hour >= today;
      reset := ceil(extract(epoch from case
        when in_day > ceil(sms_per_day * share) then today + interval '1 day'
        when in_hour > ceil(per_hour * share) then this_hour + interval '1 hour'
      end - clock_timestamp()));
    end if;
  end if;
  if (
    counted.hit is null or counted."limit" - counted.remaining >= ceil(a_minute * reserved)
    or in_hour >= ceil(per_hour * reserved) or in_day >= ceil(sms_per_day * reserved)
  ) and (private.count_hit('code_alarm', 'all')).hit is not null then
    alarm := to_char(this_hour at time zone 'Asia/Kuwait', 'YYYY-MM-DD HH24:MI');
  end if;
  -- A code that is not sent is counted only to give the same answer, so its count is undone.
  if reset is not null or not sends then
    perform private.uncount_hit('code_service', 'all', counted.hit);
    update private.sms_sent
    set sent = sms_sent.sent - is_sms::integer, mail = sms_sent.mail - (not is_sms)::integer
    where sms_sent.hour = this_hour and sms is not null;
  end if;
end
$$;
comment on function private.count_sending is
  'Counts a code for the limits of the whole service. reset is the number of seconds to wait if a '
  'limit is used up; alarm is the current hour once four fifths of a limit are used.';

create function private.count_code(
  purpose text, identifier text, requested_by bytea, address text, is_known boolean, sends boolean,
  sms_per_day integer, for_another boolean default false
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  wait constant integer := private.code_wait(purpose, identifier, requested_by);
  subject constant text := private.code_rate_subject(identifier, address);
  pair constant text := address || ' ' || identifier;
  counted record;
  sending record;
begin
  if wait > 0 then
    return jsonb_build_object('error', jsonb_build_object(
      'code', 'otp_resend_too_soon', 'detail', jsonb_build_object('retryAfter', wait)));
  end if;
  if is_known then
    counted := private.count_hits('{code_known_hour,code_known_day}', array[pair, pair]);
  else
    -- A reset is checked against both limits of the address, so that a refusal does not reveal
    -- whether an account exists.
    counted := private.count_hits(
      array['code_address',
        case when purpose = 'reset' or not sends then 'code_unsent_address' end,
        case when for_another then 'code_another_hour' end,
        case when for_another then 'code_another_day' end,
        'code_unknown_hour', 'code_unknown_day', 'code_unknown_all_hour', 'code_unknown_all_day'],
      array[subject, address, identifier, identifier, pair, pair, identifier, identifier]);
  end if;
  if counted.refused is not null then
    return jsonb_build_object('error', jsonb_build_object(
      'code', 'rate_limited', 'rule', counted.refused,
      'detail', jsonb_build_object('retryAfter', counted.reset)));
  end if;

  -- The limits of the service come last, so that a caller who is refused anyway cannot use them up.
  sending := private.count_sending(
    identifier like '+%',
    is_known or purpose in ('change', 'sudo') or private.hits_within('code_used_address', subject, 86400) > 0,
    sends, sms_per_day);
  perform private.uncount_hit(taken.rule, taken.subject, taken.hit)
  from jsonb_to_recordset(counted.hits) as taken (rule text, subject text, hit timestamptz)
  where sending.reset is not null
    or taken.rule = case when sends then 'code_unsent_address' else 'code_address' end;
  return jsonb_strip_nulls(jsonb_build_object(
    'alarm', sending.alarm,
    'error', case when sending.reset is not null then jsonb_build_object(
      'code', 'service_unavailable', 'rule', 'code_service',
      'detail', jsonb_build_object('retryAfter', sending.reset)) end));
end
$$;
comment on function private.count_code is
  'Counts a code as sent or, if it has no recipient, as unsent. If a limit is used up, returns '
  '{error} and counts nothing. for_another means that the contact does not belong to the '
  'requesting account. Such requests may use only half of the codes, so that the contact''s owner '
  'can use the rest.';
