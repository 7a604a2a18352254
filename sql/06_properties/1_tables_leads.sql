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
  'The day in Kuwait; requests of the same kind on one day make one lead.';
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

-- This has no foreign keys, because checking them would write a row lock to the listing each time.
create table private.property_views (
  property_id uuid not null,
  identity_id uuid not null,
  day date not null default (now() at time zone 'Asia/Kuwait')::date,
  counted boolean not null default false,
  primary key (property_id, identity_id, day)
);
comment on table private.property_views is
  'Signed-in viewers of listings, one row per day. Cleaned by private.purge_views.';
comment on column private.property_views.counted is 'Whether property_counters.views includes it.';
create index property_views_uncounted_idx on private.property_views (property_id)
  where not counted;
create index property_views_day_idx on private.property_views (day);
alter table private.property_views enable row level security;
grant insert on private.property_views to acting;
create policy "identities view for themselves" on private.property_views for insert to acting
  with check (identity_id = (select private.identity_id()));

-- This has no foreign keys either. Its rows go before the listing's do.
create table private.property_days (
  property_id uuid not null,
  day date not null,
  views integer not null default 0,
  favorites integer not null default 0,
  primary key (property_id, day)
);
comment on table private.property_days is
  'What happened to a listing on a day in Kuwait, one row if anything did. Cleaned by '
  'private.purge_property_days.';
comment on column private.property_days.favorites is 'How often it was saved, also if not for long.';
create index property_days_day_idx on private.property_days (day);
alter table private.property_days enable row level security;
grant select on private.property_days to acting;
create policy "identities see the days of their own listings" on private.property_days
  for select to acting using (exists (
    select from public.properties
    where properties.id = property_days.property_id
      and properties.owner_identity_id = (select private.identity_id())
  ));

-- These counts are not in properties, because updating them would rewrite the listing's wide row.
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
