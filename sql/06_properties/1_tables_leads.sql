create table public.leads (
  id uuid primary key default gen_random_uuid(),
  property_id uuid not null references public.properties (id) on delete cascade,
  owner_identity_id uuid not null references public.identities (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  kind text not null constraint leads_kind_is_known check (kind in ('call', 'whatsapp', 'chat')),
  created_at timestamptz not null default now(),
  day date not null default (now() at time zone 'Asia/Kuwait')::date,
  constraint leads_once_a_day_key unique (property_id, identity_id, kind, day)
);
comment on table public.leads is 'Requests for contact. Cleaned by private.purge_leads.';
comment on column public.leads.day is
  'The day in Kuwait time. A person makes at most one lead per listing, kind and day.';
create index leads_owner_idx on public.leads (owner_identity_id, created_at desc, id desc);
create index leads_created_at_idx on public.leads (created_at);
create index leads_identity_idx on public.leads (identity_id, owner_identity_id);

alter table public.leads enable row level security;
revoke all on public.leads from anon, authenticated;
grant select on public.leads to authenticated, acting;
grant insert on public.leads to acting;
create policy "leads are seen by both sides" on public.leads for select to authenticated, acting
  using (
    owner_identity_id = (select private.identity_id())
    or identity_id = (select private.identity_id())
  );
create policy "identities ask for themselves" on public.leads for insert to acting
  with check (identity_id = (select private.identity_id()));

-- No foreign keys: checking them would write a row lock to the listing on every view.
create table private.property_views (
  property_id uuid not null,
  identity_id uuid not null,
  day date not null default (now() at time zone 'Asia/Kuwait')::date,
  counted boolean not null default false,
  primary key (property_id, identity_id, day)
);
comment on table private.property_views is
  'Signed-in viewers of listings, one row per day. Cleaned by private.purge_views.';
comment on column private.property_views.counted is
  'Whether property_counters.views includes this view.';
create index property_views_uncounted_idx on private.property_views (property_id)
  where not counted;
create index property_views_day_idx on private.property_views (day);
alter table private.property_views enable row level security;
grant insert on private.property_views to acting;
create policy "identities view for themselves" on private.property_views for insert to acting
  with check (identity_id = (select private.identity_id()));

-- This table has no foreign keys either. Its rows are purged before the row of the listing.
create table private.property_days (
  property_id uuid not null,
  day date not null,
  views integer not null default 0,
  favorites integer not null default 0,
  primary key (property_id, day)
);
comment on table private.property_days is
  'Daily activity of a listing (days in Kuwait time). Days without activity have no row. Cleaned '
  'by private.purge_property_days.';
comment on column private.property_days.favorites is
  'How often the listing was saved that day, even if it was removed again.';
create index property_days_day_idx on private.property_days (day);
alter table private.property_days enable row level security;
grant select on private.property_days to acting;
create policy "identities see the days of their own listings" on private.property_days
  for select to acting using (exists (
    select from public.properties
    where properties.id = property_days.property_id
      and properties.owner_identity_id = (select private.identity_id())
  ));

-- The counts are in their own table, because updating them in properties would rewrite its wide rows.
create table private.property_counters (
  property_id uuid primary key references public.properties (id) on delete cascade,
  views bigint not null default 0,
  favorites bigint not null default 0
) with (fillfactor = 70); -- room for HOT updates
comment on table private.property_counters is 'View and favorite counts. Deleted with the listing.';
alter table private.property_counters enable row level security;
grant select on private.property_counters to acting;
create policy "everybody sees the numbers of views and favorites" on private.property_counters
  for select to acting using (true);
