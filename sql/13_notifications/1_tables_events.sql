-- What jobs still have to notify of: what concerns many, what met a lock, listings about to expire.

create table private.news (
  id bigint generated always as identity primary key,
  kind text not null constraint news_kind_is_known
    check (kind in ('favorite_price_drop', 'favorite_unavailable', 'security_login')),
  -- No foreign key: to check it a sign-in would wait for whoever changes the table of listings.
  property_id uuid,
  account_id uuid references public.accounts (id) on delete cascade,
  session_id uuid,
  facts jsonb not null default '{}',
  reached uuid,
  told_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  constraint news_is_about_one_thing check (num_nonnulls(property_id, session_id) = 1)
);
comment on table private.news is 'What a job still has to tell to whom it concerns.';
comment on column private.news.id is 'Order of the news.';
comment on column private.news.kind is 'The kind of notification that it becomes.';
comment on column private.news.property_id is 'Which listing; told to everybody who saved it.';
comment on column private.news.account_id is 'Of a sign-in: whose.';
comment on column private.news.session_id is 'Of a sign-in: which session.';
comment on column private.news.facts is 'What the texts need; of a sign-in: from where it came.';
comment on column private.news.reached is 'Identities up to this one have been told.';
comment on column private.news.told_at is
  'When everybody had been told; kept for a day, so that the same is not told twice a day.';
comment on column private.news.created_at is 'When it happened.';
create index news_waiting_idx on private.news (id) where told_at is null;
create index news_property_idx on private.news (property_id, kind, id);
create index news_account_idx on private.news (account_id);
create index news_session_idx on private.news (session_id) where session_id is not null;
create index news_told_idx on private.news (told_at) where told_at is not null;
alter table private.news enable row level security;
create policy "nobody but functions of their owner" on private.news using (false);

-- No foreign keys: to write a row must not wait for anything.
create table private.late_notices (
  id bigint generated always as identity primary key,
  account_id uuid not null,
  identity_id uuid,
  kind text not null,
  entity_id uuid,
  facts jsonb not null,
  created_at timestamptz not null default clock_timestamp()
);
comment on table private.late_notices is
  'Notices that met a lock when they were to be made; a job makes them again.';
comment on column private.late_notices.id is 'Their order.';
comment on column private.late_notices.account_id is 'As private.notify was told, and so the others.';
comment on column private.late_notices.identity_id is 'Which identity of the account.';
comment on column private.late_notices.kind is 'Which kind.';
comment on column private.late_notices.entity_id is 'About what.';
comment on column private.late_notices.facts is 'What its texts need.';
comment on column private.late_notices.created_at is 'When it could not be made.';
alter table private.late_notices enable row level security;
create policy "nobody but functions of their owner" on private.late_notices using (false);

create table private.expiry_warnings (
  property_id uuid primary key references public.properties (id) on delete cascade,
  expires_at timestamptz not null
);
comment on table private.expiry_warnings is 'Which owners have been warned of which end.';
comment on column private.expiry_warnings.property_id is 'Of which listing.';
comment on column private.expiry_warnings.expires_at is
  'Of which end; a listing that was renewed has another one.';
alter table private.expiry_warnings enable row level security;
create policy "nobody but functions of their owner" on private.expiry_warnings using (false);
