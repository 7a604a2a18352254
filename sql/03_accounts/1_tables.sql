-- accounts.active_identity_id has the acting identity; it is never in a token. Listings and money
-- belong to identities, not to accounts.

create table public.accounts (
  id uuid primary key,
  email text
    constraint accounts_email_is_normal check (
      email ~ '^[a-z0-9!#$%&''*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&''*+/=?^_`{|}~-]+)*@'
        '([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$'
      and email ~ '^[^@]{1,64}@' and char_length(email) <= 254
    ),
  phone text constraint accounts_phone_is_normal check (
    phone ~ ('^\+965(?=' || private.mobile_prefixes() || ')[0-9]{8}$')
  ),
  email_proven boolean not null default false,
  proof_first boolean not null default false,
  taken_over_at timestamptz,
  terms_version text
    constraint accounts_terms_version_form check (terms_version ~ '^[!-~]{1,40}$'),
  terms_accepted_at timestamptz,
  language text not null default 'ar'
    constraint accounts_language_is_known check (language in ('ar', 'en')),
  status text not null default 'active' constraint accounts_status_is_known
    check (status in ('active', 'suspended', 'banned', 'deleted')),
  status_reason text,
  suspended_until timestamptz,
  delete_at timestamptz,
  money_at_deletion text,
  unreachable_since timestamptz,
  active_identity_id uuid,
  topic uuid not null default gen_random_uuid(),
  live_key uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  constraint accounts_acceptance_has_a_time check (
    num_nulls(terms_version, terms_accepted_at) in (0, 2)
  ),
  constraint accounts_only_suspensions_end check (
    suspended_until is null or status = 'suspended'
  ),
  constraint accounts_deletion_has_a_date check (isfinite(delete_at)),
  constraint accounts_deleted_once check (delete_at is null or status <> 'deleted'),
  constraint accounts_money_at_deletion_is_known check (
    money_at_deletion is null
    or money_at_deletion in ('refund', 'give_up') and delete_at is not null
  ),
  constraint accounts_is_reachable check (
    status = 'deleted' or coalesce(email, phone) is not null or unreachable_since is not null
  ),
  constraint accounts_unproven_email_stands_alone check (email_proven or email is null or phone is null)
);
comment on table public.accounts is
  'The accounts of people. Never purged: payments and other people''s conversations refer to them, '
  'and a deleted account has no personal data.';
comment on column public.accounts.id is 'The id of the Auth user.';
comment on column public.accounts.email is 'In lower case, the domain in ASCII; null once deleted.';
comment on column public.accounts.phone is 'A Kuwaiti mobile number as +965XXXXXXXX; null once deleted.';
comment on column public.accounts.email_proven is
  'Whether a code, a provider or an admin proved the email. Registering with an email does not '
  'prove it. If the account also has a phone, its email is always proven.';
comment on column public.accounts.proof_first is
  'Whether the account was registered from an IP address with many unproven accounts. Such an '
  'account must prove a phone or email before it may publish or write to others.';
comment on column public.accounts.taken_over_at is
  'When the password was last overwritten: by a provider sign-in that proved the email, or by an '
  'admin who set a contact. Null after a password reset.';
comment on column public.accounts.terms_version is
  'The version of the terms that was accepted last. It is cleared when the email is proven for the '
  'first time, because somebody else may have registered the account and accepted the terms.';
comment on column public.accounts.status is
  'A requested deletion (delete_at) does not change the status.';
comment on column public.accounts.status_reason is
  'Why the account was suspended or banned. The person sees only the reason for a suspension.';
comment on column public.accounts.delete_at is
  'When a requested deletion is due, even if the account is suspended or banned. The account is '
  'hidden from everybody until a sign-in cancels the deletion.';
comment on column public.accounts.money_at_deletion is
  'What happens to the money in the wallets: refund or give_up.';
comment on column public.accounts.unreachable_since is
  'When the account lost its last contact (phone or email). If no provider is linked either, '
  'nobody can sign in to the account, and its deletion is requested after 14 days.';
comment on column public.accounts.active_identity_id is
  'The acting identity. Its status is always active.';
comment on column public.accounts.topic is
  'The name of the account''s Realtime channel; replaced when a session ends.';
comment on column public.accounts.live_key is
  'A secret in the names of the live channels of the account''s conversations. It is replaced '
  'together with topic, and when an identity stops being active.';
-- These unique indexes are partial, because updating a column of a non-partial one would block
-- foreign key checks.
create unique index accounts_email_key on public.accounts (email) where email is not null;
create unique index accounts_phone_key on public.accounts (phone) where phone is not null;
create index accounts_delete_at_idx on public.accounts (delete_at) where delete_at is not null;
create index accounts_unreachable_since_idx on public.accounts (unreachable_since)
  where unreachable_since is not null;
create index accounts_suspended_until_idx on public.accounts (suspended_until)
  where suspended_until is not null;

create table public.individual_profiles (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  full_name text
    constraint individual_profiles_full_name_is_a_name check (private.is_name(full_name)),
  avatar_url text,
  last_sign_in_at timestamptz not null default '-infinity'
);
comment on table public.individual_profiles is 'The person behind an account. Deleted with the account.';
comment on column public.individual_profiles.last_sign_in_at is
  'A copy of auth.users.last_sign_in_at, because we cannot add an index there.';

create table public.identities (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  type text not null
    constraint identities_type_is_known check (type in ('individual', 'company', 'office')),
  status text not null constraint identities_status_is_known check (
    status in
      ('active', 'pending_verification', 'rejected', 'expired', 'suspended', 'closing', 'closed')
  ),
  status_reason text,
  display_name text not null
    constraint identities_display_name_is_a_name check (private.is_name(display_name)),
  avatar_url text,
  pending_changes jsonb constraint identities_pending_changes_are_some
    check (jsonb_typeof(pending_changes) = 'object' and pending_changes <> '{}'),
  closes_from text,
  close_at timestamptz,
  money_at_close text constraint identities_money_at_close_is_known
    check (money_at_close in ('refund', 'give_up')),
  created_at timestamptz not null default now(),
  stopped_at timestamptz,
  constraint identities_people_are_not_verified check (
    type <> 'individual' or status in ('active', 'suspended', 'closed')
  ),
  constraint identities_closing_has_a_date check (
    (status = 'closing') = (close_at is not null and closes_from is not null)
  ),
  constraint identities_account_key unique (account_id, id)
);
comment on table public.identities is 'People, companies and offices. Deleted with the account.';
comment on column public.identities.type is
  'company: a developer or other firm; office: a real-estate broker.';
comment on column public.identities.status is
  'People start as active, companies and offices as pending_verification.';
comment on column public.identities.status_reason is
  'Why the identity was rejected or suspended, or why its last changes were refused.';
comment on column public.identities.closes_from is
  'The status before closing. It is restored if the owner cancels the closing.';
comment on column public.identities.close_at is 'When the status changes from closing to closed.';
comment on column public.identities.money_at_close is
  'What happens to the money in the wallet: refund or give_up.';
comment on column public.identities.pending_changes is
  'Changes to a verified page that await an administrator''s decision, by field: names, the '
  'licence number or a later expiry date of the licence.';
create index identities_close_at_idx on public.identities (close_at) where close_at is not null;
comment on column public.identities.stopped_at is
  'When an administrator stopped the identity, by suspending it or by suspending or banning its '
  'account; otherwise null. The terms of its plan and listings are paused until it may act again.';
create unique index identities_one_individual_key on public.identities (account_id)
  where type = 'individual';
create index identities_stopped_idx on public.identities (stopped_at) where stopped_at is not null;

alter table public.accounts add constraint accounts_active_identity_is_own
  foreign key (id, active_identity_id) references public.identities (account_id, id);
create index accounts_active_identity_idx on public.accounts (id, active_identity_id);

alter table public.accounts enable row level security;
alter table public.individual_profiles enable row level security;
alter table public.identities enable row level security;
revoke all on public.accounts, public.individual_profiles, public.identities
  from anon, authenticated;
grant select (id, email, phone, email_proven, taken_over_at, language, status, status_reason,
  suspended_until, delete_at, active_identity_id, topic, created_at)
  on public.accounts to authenticated;
grant select on public.individual_profiles, public.identities to authenticated;
grant select on public.accounts, public.individual_profiles, public.identities to acting;
grant update (language, terms_version, terms_accepted_at, active_identity_id) on public.accounts
  to acting;
grant update (full_name, avatar_url) on public.individual_profiles to acting;
grant insert, update (status, status_reason, display_name, avatar_url, pending_changes)
  on public.identities to acting;

create policy "people see their own account" on public.accounts
  for select to authenticated, acting
  using (id = (select private.account_id()));
create policy "people see their own profile" on public.individual_profiles
  for select to authenticated, acting
  using (account_id = (select private.account_id()));
create policy "people see their own identities" on public.identities
  for select to authenticated, acting
  using (account_id = (select private.account_id()));
create policy "people change their own account" on public.accounts for update to acting
  using (id = (select private.account_id()));
create policy "people change their own profile" on public.individual_profiles for update to acting
  using (account_id = (select private.account_id()));
create policy "people add identities of their own" on public.identities for insert to acting
  with check (account_id = (select private.account_id()));
create policy "people change their own identities" on public.identities for update to acting
  using (account_id = (select private.account_id()));

create table public.account_settings (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  notifications jsonb not null default '{}'
    constraint account_settings_notifications_is_an_object
      check (jsonb_typeof(notifications) = 'object'),
  quiet_from time,
  quiet_to time,
  show_phone boolean not null default true,
  read_receipts boolean not null default true,
  show_last_seen boolean not null default true,
  who_may_write text not null default 'everyone'
    constraint account_settings_writers_are_known check (who_may_write in ('everyone', 'proven')),
  marketing_consent boolean not null default false,
  updated_at timestamptz not null default now(),
  constraint account_settings_quiet_hours_are_whole check (
    (quiet_from is null) = (quiet_to is null) and (quiet_from <> quiet_to) is not false
  )
);
comment on table public.account_settings is
  'The settings of an account; without a row the defaults apply. Deleted with the account.';
comment on column public.account_settings.notifications is
  'The channels that the person switched on or off, such as {"leads":{"push":false}}. Defaults '
  'apply to all others.';
comment on column public.account_settings.quiet_to is
  'The end of the quiet hours in Kuwait time; on the next day if it is before quiet_from.';
comment on column public.account_settings.show_phone is
  'Whether others may request the phone number.';
comment on column public.account_settings.read_receipts is
  'Read receipts are shown only if both sides allow them.';
comment on column public.account_settings.show_last_seen is 'Stored for clients; not used in SQL.';
comment on column public.account_settings.who_may_write is
  'Who may start a conversation with the account, or continue one that the account has not '
  'answered: everyone, or only accounts with a proven phone or email (proven).';

alter table public.account_settings enable row level security;
revoke all on public.account_settings from anon, authenticated;
grant select on public.account_settings to authenticated;
grant select, insert, update on public.account_settings to acting;
create policy "people see their own settings" on public.account_settings
  for select to authenticated, acting
  using (account_id = (select private.account_id()));
create policy "people add settings of their own" on public.account_settings for insert to acting
  with check (account_id = (select private.account_id()));
create policy "people change their own settings" on public.account_settings for update to acting
  using (account_id = (select private.account_id()));

create table private.idempotency_keys (
  account_id uuid not null references public.accounts (id) on delete cascade,
  key text not null constraint idempotency_keys_key_form check (key ~ '^[\x20-\x7E]{1,64}$'),
  request_hash bytea not null,
  answer json,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);
comment on table private.idempotency_keys is
  'Responses by Idempotency-Key, kept for 24 hours. Cleaned by private.purge_idempotency_keys.';
comment on column private.idempotency_keys.request_hash is
  'The SHA-256 of the acting identity and the request.';
create index idempotency_keys_created_at_idx on private.idempotency_keys (created_at);
alter table private.idempotency_keys enable row level security;
grant select, insert, update (answer), delete on private.idempotency_keys to acting;
create policy "people keep their own answers" on private.idempotency_keys to acting
  using (account_id = (select private.account_id()));
