create table private.suspensions (
  property_id uuid primary key,
  account_id uuid not null references public.accounts (id) on delete cascade,
  listing jsonb not null,
  pictures text[] not null,
  ended_at timestamptz
);
comment on table private.suspensions is
  'Copies of suspended listings, used to recognise a new listing that repeats one of them. '
  'Cleaned by private.purge_suspensions, and deleted with the account.';
comment on column private.suspensions.property_id is
  'The suspended listing. No foreign key: its row may already be deleted.';
comment on column private.suspensions.listing is
  'The values by which listings are compared (private.compared_fields).';
comment on column private.suspensions.pictures is
  'The SHA-256 hashes of the pictures at the time of the suspension.';
comment on column private.suspensions.ended_at is
  'When the suspension was lifted or the listing deleted; null during the suspension.';
create index suspensions_account_idx on private.suspensions (account_id);
create index suspensions_ended_idx on private.suspensions (ended_at) where ended_at is not null;

create table public.duplicates (
  id uuid primary key default gen_random_uuid(),
  property_id uuid not null references public.properties (id) on delete cascade,
  of_id uuid not null,
  state text not null default 'open' constraint duplicates_state_is_known
    check (state in ('open', 'in_review', 'gone', 'dismissed', 'suspended')),
  created_at timestamptz not null default clock_timestamp(),
  constraint duplicates_are_of_others check (property_id <> of_id)
);
comment on table public.duplicates is
  'Pairs of a listing and an earlier listing that it repeats. If a listing has several copies, '
  'each of them is paired with the original only. Deleted with the listing.';
comment on column public.duplicates.property_id is 'The listing that was published later.';
comment on column public.duplicates.of_id is
  'The earlier listing. No foreign key: its row may be deleted before this one.';
comment on column public.duplicates.state is
  'open: waits for the decision of an admin. in_review: of_id is or was suspended, so property_id '
  'waits for review. gone: one of the two listings of an open pair was suspended or deleted; the '
  'pair may be reported again. dismissed, suspended: an admin decided; the pair is not reported '
  'again.';
create unique index duplicates_pair_key
  on public.duplicates (least(property_id, of_id), greatest(property_id, of_id));
create index duplicates_property_idx on public.duplicates (property_id);
create index duplicates_of_idx on public.duplicates (of_id);
create index duplicates_open_idx on public.duplicates (created_at, id) where state = 'open';

create table private.duplicate_checks (
  id bigint generated always as identity primary key,
  property_id uuid not null references public.properties (id) on delete cascade
);
comment on table private.duplicate_checks is
  'A queue of listings that a job compares with others, so that writers need not wait for the '
  'comparison. A listing may have several rows. Cleaned by private.find_duplicates.';
create index duplicate_checks_property_idx on private.duplicate_checks (property_id);

alter table private.suspensions enable row level security;
alter table public.duplicates enable row level security;
alter table private.duplicate_checks enable row level security;
revoke all on public.duplicates from anon, authenticated;
grant select on private.suspensions to acting;
create policy "people see what is kept of their own" on private.suspensions for select to acting
  using (account_id = (select private.account_id()));
create policy "nobody but functions of their owner" on private.duplicate_checks using (false);
