-- To change phone or email, people first prove who they are, then enter a code sent to the new
-- contact. Auth writes the contact, and triggers apply the effects in the same transaction
-- (6_events_auth_contact.sql).

create function private.open_contact_change(
  account_id uuid, session_id uuid, kind text, value text
) returns uuid
  language sql stable security definer set search_path = ''
as $$
  select changes.id from private.contact_changes as changes
  where changes.account_id = open_contact_change.account_id
    and changes.session_id = open_contact_change.session_id
    and changes.kind = open_contact_change.kind and changes.value = open_contact_change.value
    and changes.proven_at is null and changes.expires_at > now()
$$;
comment on function private.open_contact_change is
  'The open change to this value, if any. Repeating the request resumes the change with a new '
  'code.';

create function private.contact_holder(
  account_id uuid, value text, out holder_id uuid, out is_taken boolean
)
  language sql stable
  security definer -- reads other people's accounts
  set search_path = ''
as $$
  select accounts.id,
    accounts.email_proven or accounts.email is distinct from value
      or accounts.email = private.decoy_email()
  from public.accounts
  where accounts.id = private.account_with(value) and accounts.id <> account_id
$$;
comment on function private.contact_holder is
  'The other account that has this contact. is_taken is false only for an unproven email, which '
  'can be taken away from that account.';

create function private.contact_refusal(
  account public.accounts, kind text, value text, banned_hash text, address text
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  held_until constant timestamptz := private.contact_held_until(account, kind);
begin
  if value = private.proven_contact(account, kind) then
    return jsonb_build_object('code', 'identifier_unchanged', 'detail', jsonb_build_object('fields',
      jsonb_build_array(jsonb_build_object('path', kind, 'code', 'identifier_unchanged'))));
  elsif held_until is not null then
    return jsonb_build_object('code', 'change_too_soon',
      'detail', jsonb_build_object('retryAt', held_until));
  elsif private.is_banned_contact(value, banned_hash)
    or (private.contact_holder(account.id, value)).is_taken then
    return private.taken_error(kind || '_taken', address, kind) -> 'error';
  end if;
  return null;
end
$$;

create function private.begin_contact_change(
  account_id uuid, session_id uuid, kind text, value text, change_id uuid, proof text, hmac text,
  banned_hash text, address text, address_hash text, sms_per_day integer
) returns jsonb
  language plpgsql
  security definer -- reads other people's accounts, and writes tables closed to clients
  set search_path = ''
as $$
declare
  terms constant record := private.code_limits();
  requester constant bytea := private.address_mark(value, address_hash);
  is_open constant boolean :=
    private.open_contact_change(account_id, session_id, kind, value) is not distinct from change_id;
  account public.accounts;
  counted record;
  refusal jsonb;
  answer jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('code ' || value, 0));
  select * into account from public.accounts where accounts.id = begin_contact_change.account_id;
  answer := jsonb_strip_nulls(jsonb_build_object(
    'changeId', change_id, 'resendAfter', terms.resend_after,
    'expiresIn', extract(epoch from terms.life)::integer,
    'emailLeaves', case when kind = 'phone' and not account.email_proven
      and account.email is not null then true end));
  if not is_open then
    if not private.proves_change(account, session_id, proof, kind) then
      return '{"error":{"code":"invalid_credentials","detail":{}}}';
    end if;
    counted := private.count_hits(
      '{contact_changes,register_address}', array[account_id::text, address]);
    refusal := case
      when counted.refused is null then
        private.contact_refusal(account, kind, value, banned_hash, address)
      else jsonb_build_object('code', 'rate_limited',
        'detail', jsonb_build_object('retryAfter', counted.reset)) end;
    if refusal is not null then
      return jsonb_build_object('error', refusal);
    end if;
  end if;
  answer := answer
    || private.count_code('prove', value, requester, address, false, true, sms_per_day,
      private.account_with(value) is distinct from account_id);
  if answer ? 'error' then
    return answer;
  end if;

  if private.lock_session(account_id, session_id) is distinct from account then
    raise serialization_failure using message = 'the account was changed meanwhile';
  end if;
  if not is_open then
    delete from private.contact_changes as changes
    where changes.account_id = account.id and changes.kind = begin_contact_change.kind
      and changes.done_at is null;
    insert into private.contact_changes (id, account_id, session_id, act, kind, value)
    values (change_id, account.id, session_id, 'change', kind, value);
  end if;
  perform private.add_code(
    'prove', value, hmac, requester, null, account.id, true, change_id => change_id);
  return answer;
end
$$;
comment on function private.begin_contact_change is
  'Begins or resumes a change. A refusal is returned as {error}, so that the counts are kept.';

create function private.verify_contact_change(
  account_id uuid, session_id uuid, kind text, change_id uuid, hmac text, address text,
  address_hash text
) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  change private.contact_changes;
  verified jsonb;
begin
  select * into change from private.contact_changes as changes
  where changes.id = verify_contact_change.change_id
    and changes.account_id = verify_contact_change.account_id
    and changes.session_id = verify_contact_change.session_id
    and changes.kind = verify_contact_change.kind and changes.act = 'change'
    and case when changes.proven_at is null then changes.expires_at > now()
      else changes.proven_at > now() - interval '10 minutes' end;
  if change.id is null then
    return '{"error":{"code":"change_not_found","detail":{}}}';
  elsif change.done_at is null
    and (private.contact_holder(account_id, change.value)).is_taken then
    return jsonb_build_object('error', jsonb_build_object('code', kind || '_taken',
      'detail', jsonb_build_object('fields', jsonb_build_array(
        jsonb_build_object('path', kind, 'code', kind || '_taken')))));
  elsif change.proven_at is null then
    -- Lock order: the advisory lock for codes to this value, then the account, then rows of codes.
    perform pg_advisory_xact_lock(hashtextextended('code ' || change.value, 0));
    perform private.lock_session(account_id, session_id);
    verified := private.verify_code(
      'prove', change.value, hmac, address, address_hash, change_id => change.id);
    if verified ? 'error' then
      return verified;
    end if;
    update private.contact_changes set proven_at = clock_timestamp()
    where contact_changes.id = change.id;
    if not found then
      perform private.refuse(404, 'change_not_found');
    end if;
  elsif not exists (
    select from private.codes
    where codes.change_id = change.id and codes.used_at is not null
      and private.same_bytes(codes.hmac, decode(verify_contact_change.hmac, 'hex'))
  ) then
    return '{"error":{"code":"otp_invalid","detail":{"attemptsLeft":0}}}';
  end if;
  return jsonb_build_object('value', change.value, 'done', change.done_at is not null);
end
$$;
comment on function private.verify_contact_change is
  'Returns the value to write at Auth, and whether it has been written already. The call can be '
  'repeated for ten minutes.';

create function private.contact_change_outcome(account_id uuid, change_id uuid) returns jsonb
  language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'done', changes.done_at is not null,
    'closes', changes.closes,
    'taken', coalesce((private.contact_holder(changes.account_id, changes.value)).is_taken, false))
  from private.contact_changes as changes
  where changes.id = contact_change_outcome.change_id
    and changes.account_id = contact_change_outcome.account_id
$$;
comment on function private.contact_change_outcome is
  'Whether a change is done and whether its value is taken; null if the change was cancelled.';

create function private.code_identifier(account_id uuid, purpose text) returns text
  language sql stable security definer set search_path = ''
as $$
  select coalesce((
    select codes.identifier from private.codes
    where codes.account_id = accounts.id and codes.purpose = code_identifier.purpose
      and codes.identifier in (accounts.phone, accounts.email)
    order by codes.created_at desc
    limit 1
  ), accounts.phone, accounts.email)
  from public.accounts where accounts.id = code_identifier.account_id
$$;
comment on function private.code_identifier is
  'The phone or email that the newest code of this purpose was sent to, otherwise the phone or '
  'email of the account.';

grant execute on function
  private.open_contact_change, private.begin_contact_change, private.verify_contact_change,
  private.contact_change_outcome, private.code_identifier
  to backend;
