create function private.stored_answer(key text, request jsonb) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
  hash bytea := sha256(
    convert_to(coalesce(private.identity_id()::text, '') || request::text, 'UTF8'));
  stored private.idempotency_keys;
begin
  delete from private.idempotency_keys
  where idempotency_keys.account_id = caller_id
    and idempotency_keys.key = stored_answer.key
    and idempotency_keys.created_at < now() - interval '24 hours';

  -- The second of two concurrent calls waits here until the first one has finished or failed.
  insert into private.idempotency_keys (account_id, key, request_hash)
  values (caller_id, stored_answer.key, hash)
  on conflict do nothing;
  if found then
    perform set_config('private.claimed_key', stored_answer.key, true);
    return null;
  end if;

  select * into stored from private.idempotency_keys
  where idempotency_keys.account_id = caller_id
    and idempotency_keys.key = stored_answer.key;
  if stored.request_hash <> hash then
    perform private.refuse_field('Idempotency-Key', 'idempotency_mismatch');
  end if;
  return stored.answer;
end
$$;
comment on function private.stored_answer is
  'Returns the response stored for the key. If there is none, claims the key '
  '(private.has_claimed_key) and returns null.';

create function private.has_claimed_key() returns boolean
  language sql stable
  return coalesce(current_setting('private.claimed_key', true), '') <> '';
comment on function private.has_claimed_key is
  'Whether the request has a new Idempotency-Key. If so, it is intended, even if it looks like a '
  'duplicate of an earlier request.';

create function private.store_answer(key text, answer json) returns json
  language sql security definer set search_path = ''
as $$
  update private.idempotency_keys set answer = store_answer.answer
  where idempotency_keys.account_id = private.account_id()
    and idempotency_keys.key = store_answer.key
  returning idempotency_keys.answer
$$;

grant execute on function private.stored_answer, private.store_answer to authenticated;
