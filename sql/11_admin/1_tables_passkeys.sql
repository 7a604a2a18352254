create table private.passkeys (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.admins (account_id) on delete cascade,
  credential_id text not null constraint passkeys_credential_key unique,
  rp_id text not null,
  public_key text not null,
  counter bigint not null,
  transports text[],
  name text constraint passkeys_name_is_short check (char_length(name) <= 50),
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz
);
comment on table private.passkeys is
  'The passkeys (WebAuthn) with which administrators re-authenticate. Deleted with the account.';
comment on column private.passkeys.credential_id is
  'The id of the credential in base64url, as browsers send it.';
comment on column private.passkeys.rp_id is
  'The host of the page where the passkey was registered. It works on no other host.';
comment on column private.passkeys.public_key is 'The COSE key, in base64url.';
comment on column private.passkeys.counter is
  'The passkey''s signature counter at its last use. Always 0 for passkeys without a counter, such '
  'as synced ones.';
comment on column private.passkeys.transports is
  'The transports that the browser reported at registration. They are sent back unchanged when the '
  'passkey is used; null lets the browser choose.';
create index passkeys_account_idx on private.passkeys (account_id);
alter table private.passkeys enable row level security;
create policy "administrators see, add and remove their own" on private.passkeys to administering
  using (account_id = (select private.account_id()));
grant select, insert, delete on private.passkeys to administering;

create table private.passkey_challenges (
  session_id uuid,
  adding boolean,
  challenge text not null,
  made_at timestamptz not null default clock_timestamp(),
  primary key (session_id, adding)
);
comment on table private.passkey_challenges is
  'WebAuthn challenges. A session has at most one for adding a passkey and one for '
  're-authenticating. Each works once, within five minutes. Cleaned by private.on_session_ended.';
alter table private.passkey_challenges enable row level security;
-- The policy is in 2_rules_admins.sql.
grant select, insert, update, delete on private.passkey_challenges to administering;
