-- Idempotency keys: the same key and body within 24 hours give the first answer again.

create table private.idempotency_keys (
  account_id uuid not null references public.accounts (id) on delete cascade,
  key text not null constraint idempotency_keys_key_form check (key ~ '^[\x20-\x7E]{1,64}$'),
  request_hash bytea not null,
  answer json,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
comment on table private.idempotency_keys is 'Answers kept for repeated requests.';
comment on column private.idempotency_keys.account_id is 'Whose key; nobody else''s counts.';
comment on column private.idempotency_keys.key is 'The header Idempotency-Key.';
comment on column private.idempotency_keys.request_hash is 'SHA-256 of identity, function and arguments.';
comment on column private.idempotency_keys.answer is 'The first answer.';
comment on column private.idempotency_keys.created_at is 'Kept for 24 hours.';
create index idempotency_keys_created_at_idx on private.idempotency_keys (created_at);
alter table private.idempotency_keys enable row level security;
create policy "nobody but functions of their owner" on private.idempotency_keys using (false);

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
  'The answer kept for a key, or null after taking the key for this transaction; '
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
comment on function private.keep_answer is 'Keeps an answer for the key taken before, and gives it.';

create function private.sweep_idempotency_keys() returns bigint
  language sql
  security definer -- deletes from a closed table
  set search_path = ''
as $$
  select private.sweep('private.idempotency_keys', 'created_at', '24 hours')
$$;
comment on function private.sweep_idempotency_keys is 'Job: forgets keys older than 24 hours.';

grant execute on function private.kept_answer, private.keep_answer to authenticated;
grant execute on function private.sweep_idempotency_keys to backend;
