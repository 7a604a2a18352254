-- Codes are stored as HMACs. Passwords and Apple's tokens are encrypted with keys that only the
-- edge functions have.

create table private.registrations (
  id uuid primary key,
  phone text not null,
  sealed_password text,
  full_name text,
  terms_version text,
  created_at timestamptz not null default now()
);
comment on table private.registrations is
  'Attempts to register a phone. After an hour only the phone and the time are kept, for a day. '
  'Cleaned by private.purge_codes.';
comment on column private.registrations.id is 'A secret that proves which client made the attempt.';
comment on column private.registrations.sealed_password is
  'Encrypted with AES-GCM; null if the attempt was refused or is older than an hour.';
create index registrations_phone_idx on private.registrations (phone, created_at desc);
create index registrations_created_at_idx on private.registrations (created_at);
create index registrations_sealed_idx on private.registrations (created_at)
  where sealed_password is not null;
-- All refused or expired attempts to register the same phone share one row.
create unique index registrations_refused_key on private.registrations (phone)
  where sealed_password is null;
alter table private.registrations enable row level security;
create policy "nobody but functions of their owner" on private.registrations using (false);

create table private.email_claims (
  email text primary key,
  address text,
  claimed_at timestamptz not null default now()
);
comment on table private.email_claims is
  'Emails that are reserved while Auth creates a user. Cleaned by private.purge_codes.';
comment on column private.email_claims.address is
  'The IP address of the client; null for a sign-in with a provider.';
comment on column private.email_claims.claimed_at is 'The reservation is valid for ten seconds.';
create index email_claims_claimed_at_idx on private.email_claims (claimed_at);
alter table private.email_claims enable row level security;
create policy "nobody but functions of their owner" on private.email_claims using (false);

create table private.email_registrations (
  account_id uuid not null references public.accounts (id) on delete cascade,
  subject text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, subject)
);
comment on table private.email_registrations is
  'IP addresses from which unproven emails were registered. Cleaned by private.purge_codes.';
comment on column private.email_registrations.subject is 'An IPv4 address, or an IPv6 /64 or /48.';
create index email_registrations_subject_idx
  on private.email_registrations (subject, created_at);
create index email_registrations_created_at_idx on private.email_registrations (created_at);
alter table private.email_registrations enable row level security;
create policy "nobody but functions of their owner" on private.email_registrations using (false);

create table private.contact_changes (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  session_id uuid,
  act text not null
    constraint contact_changes_act_is_known
      check (act in ('change', 'removal', 'reset', 'undo', 'set')),
  kind text not null constraint contact_changes_kind_is_known check (kind in ('phone', 'email')),
  value text,
  old_value text,
  other_value text,
  closes jsonb,
  proven_at timestamptz,
  done_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '1 hour'
);
comment on table private.contact_changes is
  'Changes of phone or email, and password resets. Cleaned by private.purge_codes.';
comment on column private.contact_changes.session_id is
  'The session in which the change began. The change cannot be completed once this session has '
  'ended. Null for resets, undos and changes by an admin.';
comment on column private.contact_changes.act is
  'undo (by a reset) and set (by an admin) take effect at once, and their rows are then deleted.';
comment on column private.contact_changes.value is
  'The new phone or email; for a reset, the contact that the code was sent to; null for a removal.';
comment on column private.contact_changes.other_value is
  'The proven contact of the other kind at the time of the change.';
comment on column private.contact_changes.closes is
  '[{"listings": n}] if the email was taken from another account, which has n listings and can no '
  'longer be signed in to.';
comment on column private.contact_changes.proven_at is
  'When the change was proven: by its code, or at once if it needs no code (removal, undo, set). '
  'Auth accepts the change until ten minutes later.';
comment on column private.contact_changes.expires_at is
  '1 hour after the change began, or 72 hours after it was done.';
create unique index contact_changes_open_key on private.contact_changes (account_id, kind)
  where done_at is null;
create index contact_changes_account_idx on private.contact_changes (account_id, done_at);
create index contact_changes_expires_idx on private.contact_changes (expires_at);
alter table private.contact_changes enable row level security;
grant select on private.contact_changes to acting;
create policy "people see changes of their own contacts" on private.contact_changes
  for select to acting using (account_id = (select private.account_id()));

create table private.contact_messages (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  sent_to text not null,
  body text not null,
  tries integer not null default 0,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
comment on table private.contact_messages is
  'SMS and emails about a changed contact or a requested deletion; retried for a day. Cleaned by '
  'private.purge_codes.';
comment on column private.contact_messages.sent_to is 'A current or former phone or email.';
create index contact_messages_account_idx on private.contact_messages (account_id);
create index contact_messages_due_idx on private.contact_messages (due_at);
create index contact_messages_created_at_idx on private.contact_messages (created_at);
alter table private.contact_messages enable row level security;
create policy "nobody but functions of their owner" on private.contact_messages using (false);

create table private.codes (
  id uuid primary key default gen_random_uuid(),
  purpose text not null
    constraint codes_purpose_is_known
      check (purpose in ('register', 'reset', 'delete', 'change', 'prove', 'sudo')),
  identifier text not null,
  registration_id uuid references private.registrations (id) on delete cascade,
  reset_id uuid,
  change_id uuid references private.contact_changes (id) on delete cascade,
  account_id uuid references public.accounts (id) on delete cascade,
  hmac bytea not null,
  requested_by bytea,
  tries integer not null default 0,
  unknown_tries integer not null default 0,
  created_at timestamptz not null default now(),
  used_at timestamptz,
  replaced boolean not null default false
);
comment on table private.codes is 'One-time codes. Cleaned by private.purge_codes.';
comment on column private.codes.purpose is
  'change: for a signed-in person; prove: for a new contact; sudo: for an administrator.';
comment on column private.codes.reset_id is 'A secret that proves which client requested the code.';
comment on column private.codes.hmac is 'HMAC-SHA256 of purpose, identifier or change, and code.';
comment on column private.codes.requested_by is
  'A keyed hash of the IP address that requested the code (see address_mark).';
comment on column private.codes.tries is
  'Wrong guesses that name the registration, reset or change of the code, or come from the IP '
  'address that requested the code.';
comment on column private.codes.unknown_tries is 'All other wrong guesses.';
create index codes_identifier_idx on private.codes (identifier, purpose, created_at desc);
create index codes_registration_idx on private.codes (registration_id);
create index codes_change_idx on private.codes (change_id);
create index codes_account_idx on private.codes (account_id);
create index codes_created_at_idx on private.codes (created_at);
alter table private.codes enable row level security;
create policy "nobody but functions of their owner" on private.codes using (false);

create table private.sms_sent (
  hour timestamptz primary key,
  sent integer not null,
  mail integer not null default 0
);
comment on table private.sms_sent is
  'Number of SMS (limited by SMS_PER_DAY) and emails per hour. Cleaned by private.purge_codes.';
comment on column private.sms_sent.hour is
  'The start of the hour. The daily limit uses days in Kuwait time.';
alter table private.sms_sent enable row level security;
create policy "nobody but functions of their owner" on private.sms_sent using (false);

create table private.known_addresses (
  account_id uuid not null references public.accounts (id) on delete cascade,
  mark bytea not null,
  known_until timestamptz not null,
  primary key (account_id, mark)
);
comment on table private.known_addresses is
  'IP addresses from which somebody signed in to an account. They are exempt from the limits that '
  'strangers could use up. Cleaned by private.purge_known_addresses.';
comment on column private.known_addresses.mark is
  'A keyed hash of the IP address; not part of data exports.';
comment on column private.known_addresses.known_until is
  '90 days after the last sign-in from this address.';
create index known_addresses_until_idx on private.known_addresses (known_until);
alter table private.known_addresses enable row level security;
create policy "nobody but functions of their owner" on private.known_addresses using (false);

create table private.session_clients (
  session_id uuid primary key,
  address inet,
  user_agent text
    constraint session_clients_user_agent_length check (char_length(user_agent) <= 200),
  refreshed_at timestamp
);
comment on table private.session_clients is
  'The client that last received the tokens of a session. Cleaned by private.on_session_ended.';
comment on column private.session_clients.address is
  'The IP address, for IPv6 the /64; null if unknown.';
comment on column private.session_clients.refreshed_at is
  'The value of auth.sessions.refreshed_at when this row was written. If the value there is newer, '
  'a client has refreshed the session directly at Auth.';
alter table private.session_clients enable row level security;
create policy "nobody but functions of their owner" on private.session_clients using (false);

create table private.social_tokens (
  key text primary key,
  expires_at timestamptz not null,
  client text,
  used_at timestamptz,
  is_repeated boolean not null default false,
  was_new_account boolean,
  topic uuid
);
comment on table private.social_tokens is
  'Provider tokens used for sign-ins, and their nonces. Cleaned by private.purge_social_tokens.';
comment on column private.social_tokens.key is
  'The provider, and the SHA-256 of either the signed part of the token or the nonce.';
comment on column private.social_tokens.expires_at is
  'If the sign-in was not finished, when the token can be used again; otherwise, when the row may '
  'be deleted.';
comment on column private.social_tokens.client is 'SHA-256 of the IP address and user agent.';
comment on column private.social_tokens.used_at is
  'When the token opened a session; null before that. The same client may use the token once more '
  'within 60 seconds.';
comment on column private.social_tokens.topic is
  'The value of accounts.topic at used_at. If accounts.topic has changed since, a session of the '
  'account has ended.';
create index social_tokens_expires_idx on private.social_tokens (expires_at);
alter table private.social_tokens enable row level security;
create policy "nobody but functions of their owner" on private.social_tokens using (false);

create table private.announced_sign_ins (
  id uuid primary key default gen_random_uuid(),
  provider text not null,
  subject text not null,
  email text,
  topic uuid,
  expires_at timestamptz not null default now() + interval '20 seconds'
);
comment on table private.announced_sign_ins is
  'Sign-ins in progress. Only while a sign-in has a row here, Auth can link a provider, issue a '
  'token for a provider or re-encrypt a password hash with another key. The row of a provider '
  'sign-in allows one token. Cleaned by private.purge_social_tokens.';
comment on column private.announced_sign_ins.topic is
  'For a repeated sign-in: the value that accounts.topic must still have.';
comment on column private.announced_sign_ins.expires_at is
  '20 seconds after the announcement, because Auth may take up to ten.';
create index announced_sign_ins_subject_idx on private.announced_sign_ins (subject, provider);
create index announced_sign_ins_expires_idx on private.announced_sign_ins (expires_at);
alter table private.announced_sign_ins enable row level security;
create policy "nobody but functions of their owner" on private.announced_sign_ins using (false);

create table private.announced_passwords (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  session_id uuid,
  identifier text,
  expires_at timestamptz not null default now() + interval '15 seconds'
);
comment on table private.announced_passwords is
  'Password changes in progress. Auth can set a password only if a row here announces it. Cleaned '
  'by private.purge_social_tokens.';
comment on column private.announced_passwords.session_id is
  'The session that stays signed in; null if the password is set with a code.';
comment on column private.announced_passwords.identifier is
  'The phone or email that the code was sent to. It must still belong to the account.';
comment on column private.announced_passwords.expires_at is
  '15 seconds after the announcement, because Auth may take up to ten.';
create index announced_passwords_account_idx on private.announced_passwords (account_id);
create index announced_passwords_expires_idx on private.announced_passwords (expires_at);
alter table private.announced_passwords enable row level security;
create policy "nobody but functions of their owner" on private.announced_passwords using (false);

create table private.sessions_left (
  session_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade
);
comment on table private.sessions_left is
  'Sessions that could not be deleted with the other sessions of their account, because another '
  'transaction had locked them. Cleaned by private.end_sessions_left.';
create index sessions_left_account_idx on private.sessions_left (account_id);
alter table private.sessions_left enable row level security;
create policy "nobody but functions of their owner" on private.sessions_left using (false);

create sequence private.refused_password minvalue 0;
comment on sequence private.refused_password is
  'The account (account_bits) whose new password was last refused. This is a sequence, because a '
  'rollback does not undo a change of its value.';

create table private.apple_tokens (
  account_id uuid not null references public.accounts (id) on delete cascade,
  client_id text not null,
  sealed_token text not null,
  revoke_at timestamptz,
  tries integer not null default 0,
  primary key (account_id, client_id)
);
comment on table private.apple_tokens is
  'Refresh tokens from Apple. They are revoked when the account is deleted or Apple is removed as '
  'its provider. Cleaned by private.finish_apple_revocation.';
create index apple_tokens_revoke_idx on private.apple_tokens (revoke_at)
  where revoke_at is not null;
alter table private.apple_tokens enable row level security;
create policy "nobody but functions of their owner" on private.apple_tokens using (false);
