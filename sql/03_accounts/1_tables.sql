-- Accounts and their identities: who is calling, and as whom. In which order rows are locked stands
-- in 03_accounts/2_rules_locks.sql.
--
-- An account is a person's sign-in. It acts as one of its identities at a time; which one lies here
-- and never in a token. Everything a person owns belongs to an identity.

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
  taken_over_at timestamptz,
  language text not null default 'ar'
    constraint accounts_language_is_known check (language in ('ar', 'en')),
  status text not null default 'active' constraint accounts_status_is_known
    check (status in ('active', 'suspended', 'banned', 'deletion_requested', 'deleted')),
  status_reason text,
  suspended_until timestamptz,
  delete_at timestamptz,
  active_identity_id uuid,
  topic uuid not null default gen_random_uuid(),
  live_key uuid not null default gen_random_uuid(),
  created_at timestamptz not null default now(),
  constraint accounts_only_suspensions_end check (
    suspended_until is null or status = 'suspended'
  ),
  constraint accounts_deletion_says_when check (
    (status = 'deletion_requested') = (delete_at is not null)
  ),
  constraint accounts_is_reachable check (status = 'deleted' or coalesce(email, phone) is not null)
);
comment on table public.accounts is 'A person''s sign-in; one for each user of Auth.';
comment on column public.accounts.id is 'The id of the Auth user.';
comment on column public.accounts.email is 'Lower case, domain in ASCII; null once deleted.';
comment on column public.accounts.phone is 'Kuwaiti mobile as +965XXXXXXXX; null once deleted.';
comment on column public.accounts.email_proven is
  'Whether the owner of the email has shown it, by a code or a provider. Registration does not.';
comment on column public.accounts.taken_over_at is
  'When the owner of the email came by a provider and ended what was there; null after a reset.';
comment on column public.accounts.language is 'ar or en: of messages and notifications.';
comment on column public.accounts.status is
  'active, suspended, banned, deletion_requested (14 days, signing in cancels), deleted.';
comment on column public.accounts.status_reason is 'Why it is suspended or banned, shown to the person.';
comment on column public.accounts.suspended_until is 'When a suspension ends by itself; null is never.';
comment on column public.accounts.delete_at is 'When a requested deletion is carried out.';
comment on column public.accounts.active_identity_id is
  'Acts as this identity now; null when it was taken away, until switch, sign-in or refresh.';
comment on column public.accounts.topic is
  'Name of its Realtime channel; another one from the moment that a session or a right ends.';
comment on column public.accounts.live_key is
  'Random, and shown to nobody: the names of its conversations'' live channels are made of it. '
  'Another one whenever the topic changes, and when one of its identities is taken away.';
comment on column public.accounts.created_at is 'When it was made.';
-- Partial: to change a column of a whole unique index locks the row also against those who only
-- refer to it.
create unique index accounts_email_key on public.accounts (email) where email is not null;
create unique index accounts_phone_key on public.accounts (phone) where phone is not null;
create index accounts_delete_at_idx on public.accounts (delete_at) where delete_at is not null;
create index accounts_suspended_until_idx on public.accounts (suspended_until)
  where suspended_until is not null;

create table public.individual_profiles (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  full_name text
    constraint individual_profiles_full_name_is_a_name check (private.is_name(full_name)),
  avatar_url text
);
comment on table public.individual_profiles is 'The person behind an account.';
comment on column public.individual_profiles.account_id is 'Whose.';
comment on column public.individual_profiles.full_name is 'As the person writes it; null until given.';
comment on column public.individual_profiles.avatar_url is 'Public address of the picture, if any.';

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
comment on table public.identities is 'Whom an account acts as: itself, a company, an office.';
comment on column public.identities.id is 'Named by listings, favorites, conversations, wallets.';
comment on column public.identities.account_id is 'Who acts.';
comment on column public.identities.type is 'individual, company (developer or firm), office (brokerage).';
comment on column public.identities.status is
  'An individual is born active; company and office begin in pending_verification.';
comment on column public.identities.status_reason is 'Why rejected or suspended, shown to the owner.';
comment on column public.identities.display_name is 'What others see.';
comment on column public.identities.avatar_url is 'Public address of the picture, if any.';
comment on column public.identities.created_at is 'When it was made.';
create unique index identities_one_individual_key on public.identities (account_id)
  where type = 'individual';

alter table public.accounts add constraint accounts_active_identity_is_own
  foreign key (id, active_identity_id) references public.identities (account_id, id);
create index accounts_active_identity_idx on public.accounts (id, active_identity_id);

-- Who may act ------------------------------------------------------------------------------------

-- Its body is read when it is made, so no search_path can change what it means; and without one of
-- its own it stands in a plan as if it were written out there, also for many rows.
create function private.may_act(account public.accounts) returns boolean
  language sql
  stable
  parallel safe
  return (
    (may_act.account).status in ('active', 'deletion_requested')
    or (may_act.account).status = 'suspended' and (may_act.account).suspended_until < now()
  ) is true;
comment on function private.may_act is
  'Whether an account may act now: it is in order, to be deleted only later, or its suspension is '
  'over. The one place that says so.';

-- Who is calling ---------------------------------------------------------------------------------

-- These stand at the door of every call. plpgsql keeps their plans for the connection, where a
-- function in SQL would be planned again for each message: 0.03 ms instead of 0.4.
create function private.claims() returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
end
$$;
comment on function private.claims is 'The verified claims of the caller''s token; null for a guest.';

create function private.session_id() returns uuid
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return (private.claims() ->> 'session_id')::uuid;
end
$$;
comment on function private.session_id is 'The sign-in that the token belongs to.';

create function private.account_id() returns uuid
  language plpgsql
  stable
  security definer -- reads accounts and auth.sessions before any policy can know the caller
  set search_path = ''
as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '');
begin
  return (
    select accounts.id
    from public.accounts
    join auth.sessions on sessions.user_id = accounts.id
    where accounts.id = (claims ->> 'sub')::uuid
      and sessions.id = (claims ->> 'session_id')::uuid
      and private.may_act(accounts)
  );
end
$$;
comment on function private.account_id is
  'The calling account; null unless account and session are in order now, whatever the token says.';

create function private.identity_id() returns uuid
  language plpgsql
  stable
  security definer -- reads the active identity before any policy can know the caller
  set search_path = ''
as $$
declare
  claims jsonb := nullif(current_setting('request.jwt.claims', true), '');
  acting_id uuid;
  noted text;
begin
  select identities.id into acting_id
  from public.accounts
  join auth.sessions on sessions.user_id = accounts.id
  join public.identities
    on identities.account_id = accounts.id and identities.id = accounts.active_identity_id
  where accounts.id = (claims ->> 'sub')::uuid
    and sessions.id = (claims ->> 'session_id')::uuid
    and private.may_act(accounts) and identities.status = 'active';
  -- A note for the end of the same message, which asks whether the token counted; nobody trusts it.
  if acting_id is not null then noted := set_config('private.acts', 't', true); end if;
  return acting_id;
end
$$;
comment on function private.identity_id is
  'The identity that the caller acts as; null unless account, session and identity are in order.';

create function private.is_ignored() returns boolean
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return current_setting('private.acts', true) is distinct from 't'
    and private.account_id() is null;
end
$$;
comment on function private.is_ignored is
  'Whether the token of this message counted for nothing; asked last, mostly identity_id() has said.';

create function private.caller_refusal() returns jsonb
  language plpgsql
  stable
  security definer -- tells a caller why, which needs the account's state
  set search_path = ''
as $$
declare
  claims jsonb := private.claims();
  account public.accounts;
begin
  if claims ->> 'sub' is null then
    return '{"status":401,"code":"token_missing","detail":{}}';
  end if;
  if private.account_id() is not null then
    return null;
  end if;
  select * into account from public.accounts where accounts.id = (claims ->> 'sub')::uuid;
  if account.status = 'suspended' and not private.may_act(account) then
    return jsonb_build_object('status', 403, 'code', 'account_suspended', 'detail',
      jsonb_build_object('reason', coalesce(account.status_reason, ''),
                         'until', account.suspended_until));
  elsif account.status = 'banned' then
    return '{"status":403,"code":"account_banned","detail":{}}';
  end if;
  return '{"status":401,"code":"token_invalid","detail":{}}';
end
$$;
comment on function private.caller_refusal is
  'Why the caller may not act: status, code and detail of the contract; null when all is well.';

create function private.require_account() returns uuid
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  account_id uuid := private.account_id();
  refusal jsonb;
begin
  if account_id is null then
    refusal := private.caller_refusal();
    perform private.refuse(
      (refusal ->> 'status')::integer, refusal ->> 'code', refusal -> 'detail');
  end if;
  return account_id;
end
$$;
comment on function private.require_account is
  'The calling account, or 401 token_missing / token_invalid, 403 account_suspended / account_banned.';

create function private.check_expected(identity_id uuid) returns void
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  expected_id uuid := nullif(current_setting('facade.expected_identity', true), '');
begin
  if expected_id is not null and expected_id is distinct from identity_id then
    perform private.refuse(409, 'identity_changed');
  end if;
end
$$;
comment on function private.check_expected is
  '409 identity_changed where the caller said that it acts as another identity (expect_identity).';

create function private.require_identity() returns uuid
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  identity_id uuid := private.identity_id();
begin
  if identity_id is null then
    perform private.require_account();
    perform private.refuse(403, 'identity_not_usable');
  end if;
  perform private.check_expected(identity_id);
  return identity_id;
end
$$;
comment on function private.require_identity is
  'The identity that the caller acts as, or what require_account refuses, or 403 identity_not_usable, '
  '409 identity_changed.';

create function private.is_in_order(identity_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- reads the state of another's account
  set search_path = ''
as $$
begin
  return exists (
    select from public.identities
    join public.accounts on accounts.id = identities.account_id
    where identities.id = is_in_order.identity_id and identities.status = 'active'
      and private.may_act(accounts)
  );
end
$$;
comment on function private.is_in_order is
  'Whether an identity, whoever''s, and its account can act now: the rule of identity_id().';

create function private.expect_identity(identity_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.require_account();
  if expect_identity.identity_id is distinct from private.identity_id() then
    perform private.refuse(409, 'identity_changed');
  end if;
  -- Whatever acts asks again (require_identity), when nobody can switch any more.
  perform set_config('facade.expected_identity', expect_identity.identity_id::text, true);
end
$$;
comment on function private.expect_identity is
  'The header X-Expect-Identity: 409 identity_changed unless that is the acting identity.';

-- Rows of one's own ------------------------------------------------------------------------------

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

-- Also to whoever changes an account: triggers ask it with their rights.
grant execute on function private.may_act
  to anon, authenticated, service_role, backend, supabase_auth_admin;
grant execute on function
  private.claims, private.session_id, private.account_id, private.identity_id,
  private.caller_refusal, private.require_account, private.check_expected, private.require_identity,
  private.expect_identity
  to anon, authenticated, backend;
grant execute on function private.is_ignored to authenticated;
