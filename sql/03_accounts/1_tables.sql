-- Accounts and their identities.
--
-- An account is a person's sign-in. It acts as one of its identities at a time; which one is kept
-- here and never in a token. Everything a person owns belongs to an identity.

create table public.accounts (
  id uuid primary key,
  email text
    constraint accounts_email_is_normal check (
      email ~ '^[a-z0-9!#$%&''*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&''*+/=?^_`{|}~-]+)*@'
        '([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9][a-z0-9-]{0,61}[a-z0-9]$'
      and email ~ '^[^@]{1,64}@' and char_length(email) <= 254
    ),
  phone text constraint accounts_phone_is_normal check (phone ~ '^\+965[569][0-9]{7}$'),
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
  stays_hidden boolean not null default false,
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
  constraint accounts_hidden_by_a_lock_and_a_request check (
    not stays_hidden or delete_at is not null
  ),
  constraint accounts_is_reachable check (
    status = 'deleted' or coalesce(email, phone) is not null or unreachable_since is not null
  ),
  constraint accounts_unproven_email_stands_alone check (email_proven or email is null or phone is null)
);
comment on table public.accounts is
  'A person''s sign-in; one for each user of Auth. Stays: money and what was written to others '
  'refer to it; of a deleted one only the id says anything.';
comment on column public.accounts.id is 'The id of the Auth user.';
comment on column public.accounts.email is 'In lower case, domain in ASCII; null once deleted.';
comment on column public.accounts.phone is 'Kuwaiti mobile as +965XXXXXXXX; null once deleted.';
comment on column public.accounts.email_proven is
  'Whether a code, a provider or an admin has proven who owns the email. Registration does not. '
  'Beside a phone it always is.';
comment on column public.accounts.proof_first is
  'Whether it was registered where many have proven nothing: before it addresses others it proves a '
  'phone or email. What it has proven since counts, not this.';
comment on column public.accounts.taken_over_at is
  'When the owner of the email signed in by a provider, which ended all earlier access; null after '
  'a password reset.';
comment on column public.accounts.terms_version is
  'Which terms the person last accepted; null: none, or somebody else did before the email was proven.';
comment on column public.accounts.language is 'ar or en, for messages and notifications.';
comment on column public.accounts.status is
  'active, suspended, banned, deleted: whether it is locked. That its deletion was asked for is delete_at.';
comment on column public.accounts.status_reason is
  'Why it is suspended or banned; shown to the person.';
comment on column public.accounts.delete_at is
  'When the deletion that the person asked for is carried out, locked or not (14 days; signing in '
  'takes it back); null: none was asked for.';
comment on column public.accounts.money_at_deletion is
  'What becomes of the money in its wallets then: refund or give_up; null where it has none.';
comment on column public.accounts.stays_hidden is
  'A lock came to an account whose deletion was asked for: when that ends nothing of it is public '
  'again until a sign-in takes the request back.';
comment on column public.accounts.unreachable_since is
  'Since when it has neither phone nor email: somebody else has proven its email. Without a provider '
  'either, nobody can sign in, and after 14 days its deletion is requested.';
comment on column public.accounts.active_identity_id is
  'The identity it acts as; null when that was suspended or closed, until the next switch, sign-in '
  'or refresh.';
comment on column public.accounts.topic is
  'Name of its Realtime channel; replaced whenever a session or a right ends.';
comment on column public.accounts.live_key is
  'Random, shown to nobody: the names of its conversations'' live channels are derived from it. '
  'Replaced with the topic, and when one of its identities stops being active.';
-- Partial: to change a column of a whole unique index locks the row also against those who only
-- refer to it.
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
comment on table public.individual_profiles is
  'The person behind an account. Goes with the account.';
comment on column public.individual_profiles.full_name is
  'As the person writes it; null until given.';
comment on column public.individual_profiles.last_sign_in_at is
  'As Auth has it, whose table takes no index of ours; -infinity is never.';

create table public.identities (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  type text not null
    constraint identities_type_is_known check (type in ('individual', 'company', 'office')),
  status text not null constraint identities_status_is_known check (
    status in ('active', 'pending_verification', 'rejected', 'expired', 'suspended', 'closed')
  ),
  status_reason text,
  display_name text not null
    constraint identities_display_name_is_a_name check (private.is_name(display_name)),
  avatar_url text,
  created_at timestamptz not null default now(),
  constraint identities_people_are_not_verified check (
    type <> 'individual' or status in ('active', 'suspended', 'closed')
  ),
  constraint identities_account_key unique (account_id, id)
);
comment on table public.identities is
  'Whom an account acts as: the person, a company, an office. Goes with the account.';
comment on column public.identities.type is
  'individual, company (developer or firm), office (brokerage).';
comment on column public.identities.status is
  'An individual starts as active, a company or office as pending_verification.';
comment on column public.identities.status_reason is
  'Why it was rejected or suspended; shown to the owner.';
create unique index identities_one_individual_key on public.identities (account_id)
  where type = 'individual';

alter table public.accounts add constraint accounts_active_identity_is_own
  foreign key (id, active_identity_id) references public.identities (account_id, id);
create index accounts_active_identity_idx on public.accounts (id, active_identity_id);

alter table public.accounts enable row level security;
alter table public.individual_profiles enable row level security;
alter table public.identities enable row level security;
revoke all on public.accounts, public.individual_profiles, public.identities
  from anon, authenticated;
-- live_key is left out.
grant select (id, email, phone, email_proven, taken_over_at, language, status, status_reason,
  suspended_until, delete_at, active_identity_id, topic, created_at)
  on public.accounts to authenticated;
grant select on public.individual_profiles, public.identities to authenticated;

create policy "people see their own account" on public.accounts for select to authenticated
  using (id = (select private.account_id()));
create policy "people see their own profile" on public.individual_profiles
  for select to authenticated
  using (account_id = (select private.account_id()));
create policy "people see their own identities" on public.identities for select to authenticated
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
  'What an account has chosen; without a row the defaults hold. Goes with the account.';
comment on column public.account_settings.notifications is
  'Choices by category and channel that differ from the defaults: {"leads":{"push":false}}.';
comment on column public.account_settings.quiet_from is 'Pushes wait from this time on, in Kuwait.';
comment on column public.account_settings.quiet_to is
  'Pushes continue at this time, in Kuwait; before quiet_from means the next day.';
comment on column public.account_settings.show_phone is
  'The account''s own number is given to whoever asks for the contact of a listing.';
comment on column public.account_settings.read_receipts is
  'The other side of a conversation is shown that messages were read, and shows it: both have to be on.';
comment on column public.account_settings.show_last_seen is
  'Kept for clients; the service itself never shows when somebody was last seen.';
comment on column public.account_settings.who_may_write is
  'Who opens conversations with the account and writes where it never wrote: everyone, or proven, those '
  'with a proven phone or email.';

alter table public.account_settings enable row level security;
revoke all on public.account_settings from anon, authenticated;
grant select on public.account_settings to authenticated;
create policy "people see their own settings" on public.account_settings
  for select to authenticated
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
  'Answers kept for repeated requests, for 24 hours. Cleaned by private.purge_idempotency_keys.';
comment on column private.idempotency_keys.request_hash is
  'SHA-256 of identity, function and arguments.';
create index idempotency_keys_created_at_idx on private.idempotency_keys (created_at);
alter table private.idempotency_keys enable row level security;
create policy "nobody but functions of their owner" on private.idempotency_keys using (false);
