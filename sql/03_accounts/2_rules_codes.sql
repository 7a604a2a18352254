-- Codes: how long one lives, how many tries it has, how soon another may be asked for.
--
-- Unknown addresses use up neither the tries nor the codes of whoever requested one.

create function private.code_limits(
  out resend_after integer, out life interval, out attempt_life interval,
  out tries integer, out unknown_tries integer
)
  language sql
  immutable
  set search_path = ''
as $$
  select 45, interval '5 minutes', interval '1 hour', 5, 3
$$;
comment on function private.code_limits is
  'The limits of codes: seconds until another may be asked for, how long a code and a registration '
  'live, wrong guesses allowed to whoever asked for it or names its registration, and to everybody '
  'else together.';

alter table private.codes add constraint codes_tries_are_few check (
  tries between 0 and (private.code_limits()).tries
  and unknown_tries between 0 and (private.code_limits()).unknown_tries
);

create function private.code_wait(purpose text, identifier text, requested_by bytea) returns integer
  language sql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
  -- For the codes of an account each address waits for its own only: otherwise somebody who asked
  -- a moment before would have the owner's request dropped, silently where a password was forgotten.
  -- A phone that is being registered waits as a whole: it belongs to nobody yet, the answer says how
  -- long to wait, and of twenty attempts at once only one sends.
  select greatest(0, ceil((private.code_limits()).resend_after
    - extract(epoch from clock_timestamp() - max(codes.created_at))))::integer
  from private.codes
  where codes.identifier = code_wait.identifier and codes.purpose = code_wait.purpose
    and (code_wait.purpose = 'register' or codes.requested_by = code_wait.requested_by)
$$;
comment on function private.code_wait is
  'Seconds until this address may ask for another code; 0 or null means now.';

create function private.code_refusal(
  purpose text, identifier text, requested_by bytea, address text, is_known boolean
) returns jsonb
  language plpgsql
  security definer -- counts in a closed table
  set search_path = ''
as $$
declare
  wait constant integer := private.code_wait(purpose, identifier, requested_by);
  pair constant text := address || ' ' || identifier;
  counted record;
begin
  if wait > 0 then
    return jsonb_build_object(
      'code', 'otp_resend_too_soon', 'detail', jsonb_build_object('retryAfter', wait));
  end if;
  -- The limit of the whole service comes last, so that one noisy caller cannot use it up. Unknown
  -- addresses share a limit; one that the account knows has one of its own.
  if is_known then
    counted := private.count_hits(
      '{code_address,code_known_hour,code_known_day,code_service}',
      array[address, pair, pair, 'all']);
  else
    counted := private.count_hits(
      '{code_address,code_unknown_hour,code_unknown_day,code_unknown_all_hour,code_unknown_all_day,'
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
  'Counts one code that is sent; else returns the refusal, counting nothing, when it is too soon '
  'or the address, the phone or email, or the service is at its rate.';
