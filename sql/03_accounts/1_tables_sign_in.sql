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
comment on column private.registrations.id is 'A secret that proves who made the attempt.';
comment on column private.registrations.sealed_password is
  'Encrypted with AES-GCM; null if the attempt was refused or is older than an hour.';
create index registrations_phone_idx on private.registrations (phone, created_at desc);
create index registrations_created_at_idx on private.registrations (created_at);
create index registrations_sealed_idx on private.registrations (created_at)
  where sealed_password is not null;
-- All refused and old attempts to register a phone share one row.
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
  'Emails for which Auth is creating a user. Cleaned by private.purge_codes.';
comment on column private.email_claims.address is 'The client''s IP; null at provider sign-ins.';
comment on column private.email_claims.claimed_at is 'A claim is valid for ten seconds.';
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
  'The session in which a change began; it cannot be completed after the session has ended. Null '
  'for resets, undos and changes by an admin.';
comment on column private.contact_changes.act is
  'undo (by a reset) and set (by an admin) take effect at once; their rows are then deleted.';
comment on column private.contact_changes.value is
  'The new phone or email; for a reset, the contact that got the code; null for a removal.';
comment on column private.contact_changes.other_value is
  'The proven contact of the other kind when the change was done.';
comment on column private.contact_changes.closes is
  '[{"listings": n}] if the email''s former holder, with n listings, can no longer sign in.';
comment on column private.contact_changes.proven_at is
  'When the change was proven: by its code, or at once if it needs none (removal, undo, set). Auth '
  'accepts the change for ten minutes from then.';
comment on column private.contact_changes.expires_at is 'After 1 hour, or 72 hours after done_at.';
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
  'change is for a signed-in person, prove for a new contact, sudo for an administrator.';
comment on column private.codes.reset_id is 'A secret that proves who requested the code.';
comment on column private.codes.hmac is 'HMAC-SHA256 of purpose, identifier or change, and code.';
comment on column private.codes.requested_by is 'The address_mark of the requesting IP address.';
comment on column private.codes.tries is
  'Wrong guesses that name the attempt or come from the address that requested the code.';
comment on column private.codes.unknown_tries is 'Wrong guesses by everybody else together.';
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
  'SMS (SMS_PER_DAY) and mail per hour. Cleaned by private.purge_codes.';
comment on column private.sms_sent.hour is
  'The start of the hour; the limit per day uses days in Kuwait time.';
alter table private.sms_sent enable row level security;
create policy "nobody but functions of their owner" on private.sms_sent using (false);

create table private.known_addresses (
  account_id uuid not null references public.accounts (id) on delete cascade,
  mark bytea not null,
  known_until timestamptz not null,
  primary key (account_id, mark)
);
comment on table private.known_addresses is
  'IP addresses from which people signed in to an account. Limits that strangers can use up do not '
  'apply to them. Cleaned by private.purge_known_addresses.';
comment on column private.known_addresses.mark is 'A keyed hash of the address; not exported.';
comment on column private.known_addresses.known_until is '90 days after the last sign-in there.';
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
  'The client that last got the tokens of a session. Cleaned by private.on_session_ended.';
comment on column private.session_clients.address is 'For IPv6 the /64; null if unknown.';
comment on column private.session_clients.refreshed_at is
  'auth.sessions.refreshed_at when the row was written. If it is newer there, a client has '
  'refreshed at Auth directly.';
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
  'Used tokens of providers and their nonces. Cleaned by private.purge_social_tokens.';
comment on column private.social_tokens.key is 'Provider and SHA-256 of the signed part or nonce.';
comment on column private.social_tokens.expires_at is
  'When a token can be used again after an unfinished sign-in, or a used token may be deleted.';
comment on column private.social_tokens.client is 'SHA-256 of the address and user agent.';
comment on column private.social_tokens.used_at is
  'When the token opened a session; null before. The same client may use it again once, within 60 '
  'seconds.';
comment on column private.social_tokens.topic is
  'accounts.topic at used_at. If accounts.topic has changed, a session of the account has ended.';
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
  'Sign-ins that have begun. Auth can link a provider, issue a token for a provider or encrypt a '
  'password hash under another key only while there is a row. A provider''s row allows one token. '
  'Cleaned by private.purge_social_tokens.';
comment on column private.announced_sign_ins.topic is
  'The topic that the account must still have if the sign-in is a repetition.';
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
  'Auth can set a password only if a row announces it. Cleaned by private.purge_social_tokens.';
comment on column private.announced_passwords.session_id is
  'The session that stays signed in; null if a code sets the password.';
comment on column private.announced_passwords.identifier is
  'The phone or email that got the code and must still be the account''s.';
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
  'Sessions that were not deleted with the others of their account, because another transaction '
  'had locked them. Cleaned by private.end_sessions_left.';
create index sessions_left_account_idx on private.sessions_left (account_id);
alter table private.sessions_left enable row level security;
create policy "nobody but functions of their owner" on private.sessions_left using (false);

create sequence private.refused_password minvalue 0;
comment on sequence private.refused_password is
  'The account (account_bits) whose new password was last refused at Auth. A sequence is used, '
  'because a rollback does not undo it.';

create table private.apple_tokens (
  account_id uuid not null references public.accounts (id) on delete cascade,
  client_id text not null,
  sealed_token text not null,
  revoke_at timestamptz,
  tries integer not null default 0,
  primary key (account_id, client_id)
);
comment on table private.apple_tokens is
  'Apple''s refresh tokens, to be revoked at deletion or when Apple is removed as a provider. '
  'Cleaned by private.finish_apple_revocation.';
create index apple_tokens_revoke_idx on private.apple_tokens (revoke_at)
  where revoke_at is not null;
alter table private.apple_tokens enable row level security;
create policy "nobody but functions of their owner" on private.apple_tokens using (false);
