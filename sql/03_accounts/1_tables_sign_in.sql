-- What signing in keeps: registrations and codes, known addresses, tokens of Google and Apple.
--
-- Nothing here can be read back: a code is kept as an HMAC, passwords and Apple's tokens are sealed
-- with keys that only the functions hold.

create table private.registrations (
  id uuid primary key,
  phone text not null,
  sealed_password text,
  full_name text,
  terms_version text,
  created_at timestamptz not null default now()
);
comment on table private.registrations is
  'Attempts to register a phone, refused ones too; deleted at verification. After an hour it is '
  'only known, for a day, that there was one. Cleaned by private.purge_codes.';
comment on column private.registrations.id is
  'Secret: whoever names it (registrationId) made the attempt.';
comment on column private.registrations.sealed_password is
  'AES-GCM, with a key of the functions; null in the one row that stands for refused and old attempts.';
create index registrations_phone_idx on private.registrations (phone, created_at desc);
create index registrations_created_at_idx on private.registrations (created_at);
create index registrations_sealed_idx on private.registrations (created_at)
  where sealed_password is not null;
-- One row stands for all refused and old attempts: it says that somebody else may have tried.
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
  'Emails that are being registered at this moment. Cleaned by private.purge_codes.';
comment on column private.email_claims.address is
  'Where it is being registered; null for a sign-in by a provider.';
comment on column private.email_claims.claimed_at is 'A claim counts for ten seconds.';
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
  'Where accounts that have proven nothing yet were registered by email. Cleaned by private.purge_codes.';
comment on column private.email_registrations.subject is
  'The address as rates count it: one of IPv6 has a row as /64 and one as /48.';
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
  'Changes of an account''s phone or email: begun, proven by a code, done, and resets. What is done '
  'stands for 72 hours, for which it holds the other one and can be undone. Cleaned by '
  'private.purge_codes.';
comment on column private.contact_changes.session_id is
  'Where it was begun, with which it ends; null: an admin set it, or a reset undid it.';
comment on column private.contact_changes.act is
  'change, removal; reset (of the password, by a code to this kind); undo (by a reset) and set (by an '
  'admin) are gone when they are done.';
comment on column private.contact_changes.value is 'The new one; null for none.';
comment on column private.contact_changes.old_value is 'What was there and was proven.';
comment on column private.contact_changes.other_value is
  'Of the account then, proven, of the other kind.';
comment on column private.contact_changes.closes is
  'Accounts that lost this email by it and have nothing left: {listings} of each.';
comment on column private.contact_changes.proven_at is
  'When its code was used: Auth is told, for ten minutes.';
comment on column private.contact_changes.expires_at is 'An hour, or 72 from when it is done.';
create unique index contact_changes_open_key on private.contact_changes (account_id, kind)
  where done_at is null;
create index contact_changes_account_idx on private.contact_changes (account_id, done_at);
create index contact_changes_expires_idx on private.contact_changes (expires_at);
alter table private.contact_changes enable row level security;
create policy "nobody but functions of their owner" on private.contact_changes using (false);

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
  'SMS and mails of changed phones and emails that are to be sent, without the new one and without a '
  'link; tried for a day. Cleaned by private.purge_codes.';
comment on column private.contact_messages.sent_to is 'A phone or email that the account had or has.';
comment on column private.contact_messages.due_at is 'When it is tried, or tried again.';
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
comment on table private.codes is
  'One-time codes: a short life, few tries, one use. Cleaned by private.purge_codes.';
comment on column private.codes.purpose is
  'register, reset, delete, change (who is signed in may change phone or email), prove (a new phone '
  'or email) or sudo (an administrator''s proof); a code serves one of them.';
comment on column private.codes.identifier is 'The phone or email it was sent to.';
comment on column private.codes.registration_id is 'The registration it belongs to (register).';
comment on column private.codes.reset_id is
  'What password/forgot answered with (reset): whoever names it (resetId) asked for the code.';
comment on column private.codes.change_id is 'The change of phone or email that it proves (prove).';
comment on column private.codes.hmac is
  'HMAC-SHA256 of purpose, identifier (the change, where it is of one) and code.';
comment on column private.codes.requested_by is
  'The address that asked for it, as private.address_mark of the identifier; null if unknown.';
comment on column private.codes.tries is
  'Wrong guesses by whoever named its registration or came from the address that asked for it.';
comment on column private.codes.unknown_tries is 'Wrong guesses by everybody else together.';
comment on column private.codes.replaced is 'A newer code took its place.';
create index codes_identifier_idx on private.codes (identifier, purpose, created_at desc);
create index codes_registration_idx on private.codes (registration_id);
create index codes_change_idx on private.codes (change_id);
create index codes_account_idx on private.codes (account_id);
create index codes_created_at_idx on private.codes (created_at);
alter table private.codes enable row level security;
create policy "nobody but functions of their owner" on private.codes using (false);

create table private.sms_sent (
  hour timestamptz primary key,
  sent integer not null
);
comment on table private.sms_sent is
  'How many SMS went out in each hour, for SMS_PER_DAY; kept for two days. Cleaned by '
  'private.purge_codes.';
comment on column private.sms_sent.hour is 'When it began; days are those of Asia/Kuwait.';
alter table private.sms_sent enable row level security;
create policy "nobody but functions of their owner" on private.sms_sent using (false);

create table private.known_addresses (
  account_id uuid not null references public.accounts (id) on delete cascade,
  mark bytea not null,
  known_until timestamptz not null,
  primary key (account_id, mark)
);
comment on table private.known_addresses is
  'Addresses from which an account was signed in to: limits that unknown addresses use up do not '
  'apply there. Cleaned by private.purge_known_addresses.';
comment on column private.known_addresses.mark is
  'private.address_mark: it tells a reader nothing, so no export has it.';
comment on column private.known_addresses.known_until is
  '90 days after the last sign-in from there.';
create index known_addresses_until_idx on private.known_addresses (known_until);
alter table private.known_addresses enable row level security;
create policy "nobody but functions of their owner" on private.known_addresses using (false);

create table private.session_places (
  session_id uuid primary key,
  address inet,
  user_agent text
    constraint session_places_user_agent_length check (char_length(user_agent) <= 200),
  refreshed_at timestamp
);
comment on table private.session_places is
  'From where the facade last gave tokens of a session. One whose tokens nobody was given, as where '
  'a password was only proven, has no row. Cleaned by private.on_session_ended.';
comment on column private.session_places.address is 'Of IPv6 the /64; null where none is known.';
comment on column private.session_places.user_agent is 'The beginning of what the client sent.';
comment on column private.session_places.refreshed_at is
  'As Auth had it then: where it has another by now, an app has refreshed at Auth itself.';
alter table private.session_places enable row level security;
create policy "nobody but functions of their owner" on private.session_places using (false);

create table private.social_tokens (
  key text primary key,
  expires_at timestamptz not null
);
comment on table private.social_tokens is
  'Id tokens and nonces that were used: each gives one session. Kept for two minutes while it is '
  'tried, and until it expires once it gave a session. Cleaned by private.purge_social_tokens.';
comment on column private.social_tokens.key is
  'Provider and SHA-256 of what the token signs, or of the nonce.';
comment on column private.social_tokens.expires_at is
  'From then on it may be tried again, or has expired.';
create index social_tokens_expires_idx on private.social_tokens (expires_at);
alter table private.social_tokens enable row level security;
create policy "nobody but functions of their owner" on private.social_tokens using (false);

create table private.announced_sign_ins (
  id uuid primary key default gen_random_uuid(),
  provider text not null,
  subject text not null,
  email text,
  expires_at timestamptz not null default now() + interval '20 seconds'
);
comment on table private.announced_sign_ins is
  'Sign-ins that the facade has begun and Auth has not yet finished. Without one of a provider Auth links '
  'it to nobody and gives no token, and each serves one token; without one by password it writes no hash '
  'under another key. Gone with the token, or by a job. '
  'Cleaned by private.purge_social_tokens.';
comment on column private.announced_sign_ins.provider is '`google`, `apple` or `password`.';
comment on column private.announced_sign_ins.subject is
  'The person at the provider; of a password the account.';
comment on column private.announced_sign_ins.email is 'Of the provider''s token; null where it has none.';
comment on column private.announced_sign_ins.expires_at is
  '20 seconds: twice as long as Auth may take to commit.';
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
  'New passwords that the facade has begun to set and Auth has not yet written; each serves once. Auth '
  'writes none without. Cleaned by private.purge_social_tokens.';
comment on column private.announced_passwords.session_id is
  'Whose session it is set in, which stays; null where a code is the proof and every session ends.';
comment on column private.announced_passwords.identifier is
  'Where that code was sent, which has to be the account''s still; null in a session.';
comment on column private.announced_passwords.expires_at is
  '15 seconds: Auth may take ten.';
create index announced_passwords_account_idx on private.announced_passwords (account_id);
create index announced_passwords_expires_idx on private.announced_passwords (expires_at);
alter table private.announced_passwords enable row level security;
create policy "nobody but functions of their owner" on private.announced_passwords using (false);

create table private.sessions_left (
  session_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade
);
comment on table private.sessions_left is
  'Sessions that began in the moment in which their account was locked, and were themselves locked by '
  'then: nobody has their tokens, or has them for nothing. Cleaned by private.end_sessions_left.';
create index sessions_left_account_idx on private.sessions_left (account_id);
alter table private.sessions_left enable row level security;
create policy "nobody but functions of their owner" on private.sessions_left using (false);

create sequence private.refused_password minvalue 0;
comment on sequence private.refused_password is
  'Of which account Auth was refused a new password, as private.account_bits: a rollback leaves it.';

create table private.apple_tokens (
  account_id uuid not null references public.accounts (id) on delete cascade,
  client_id text not null,
  sealed_token text not null,
  revoke_at timestamptz,
  tries integer not null default 0,
  primary key (account_id, client_id)
);
comment on table private.apple_tokens is
  'Apple''s refresh tokens, kept only to revoke them when the account is deleted. Cleaned by '
  'private.finish_apple_revocation.';
comment on column private.apple_tokens.client_id is 'The app or site that it was given to.';
comment on column private.apple_tokens.sealed_token is 'AES-GCM, with a key of the functions.';
comment on column private.apple_tokens.revoke_at is 'When it is to be revoked; null means never.';
comment on column private.apple_tokens.tries is 'Failed attempts to revoke it.';
create index apple_tokens_revoke_idx on private.apple_tokens (revoke_at)
  where revoke_at is not null;
alter table private.apple_tokens enable row level security;
create policy "nobody but functions of their owner" on private.apple_tokens using (false);
