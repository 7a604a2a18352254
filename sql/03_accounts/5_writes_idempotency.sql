-- Idempotency keys: the same key and body within 24 hours give the first answer again.

create function private.kept_answer(key text, request jsonb) returns json
  language plpgsql
  security definer -- reads and writes a closed table, for the caller's own account
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
  hash bytea := sha256(
    convert_to(coalesce(private.identity_id()::text, '') || request::text, 'UTF8'));
  kept private.idempotency_keys;
begin
  delete from private.idempotency_keys
  where idempotency_keys.account_id = caller_id
    and idempotency_keys.key = kept_answer.key
    and idempotency_keys.created_at < now() - interval '24 hours';

  -- The second of two at once waits here until the first has its answer or has failed.
  insert into private.idempotency_keys (account_id, key, request_hash)
  values (caller_id, kept_answer.key, hash)
  on conflict do nothing;
  if found then
    return null;
  end if;

  select * into kept from private.idempotency_keys
  where idempotency_keys.account_id = caller_id
    and idempotency_keys.key = kept_answer.key;
  if kept.request_hash <> hash then
    perform private.refuse_field('Idempotency-Key', 'idempotency_mismatch');
  end if;
  return kept.answer;
end
$$;
comment on function private.kept_answer is
  'The answer kept for a key, or null after claiming the key for this transaction; '
  '422 idempotency_mismatch for another request.';

create function private.keep_answer(key text, answer json) returns json
  language sql
  security definer -- writes a closed table, for the caller's own account
  set search_path = ''
as $$
  update private.idempotency_keys set answer = keep_answer.answer
  where idempotency_keys.account_id = private.account_id()
    and idempotency_keys.key = keep_answer.key
  returning idempotency_keys.answer
$$;
comment on function private.keep_answer is
  'Keeps an answer for the key claimed before, and returns it.';

grant execute on function private.kept_answer, private.keep_answer to authenticated;
