-- Organisations: what a company (developer or firm) or an office (brokerage) says of itself.
--
-- Everybody sees those that are listed: active and verified, their account in order. The lists of
-- them are read straight from this table, each order with an index of its own.

create function private.weighed_rating(average numeric, count integer) returns numeric
  language plpgsql
  immutable
  parallel safe
  set search_path = ''
as $$
declare
  -- What one thinks of somebody nobody has rated: between the middle of the scale, 3, and the 4 and
  -- more that most ratings of businesses are. So who is praised stands above the unrated, and who is
  -- complained about below.
  expected constant numeric := 3.5;
  -- After as many reviews the own average counts as much as that. One or two say little, and the
  -- ten that somebody gets together move a page of a hundred by a tenth.
  weight constant integer := 10;
begin
  return round(
    (expected * weight + coalesce(average, 0) * count) / (weight + count), 4);
end
$$;
comment on function private.weighed_rating is
  'What lists by rating are ordered by (a Bayesian average): the average, drawn to what is expected '
  'of anybody by as much as there are few reviews. It is shown nowhere.';

create table public.organisations (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  type text not null,
  name_ar text not null
    constraint organisations_name_ar_is_a_name check (private.is_name(name_ar)),
  name_en text constraint organisations_name_en_is_a_name check (private.is_name(name_en)),
  slug text not null constraint organisations_slug_key unique,
  licence_no text not null constraint organisations_licence_no_form check (
    licence_no ~ '^[0-9A-Z/-]{3,40}$'
  ),
  licence_expires_on date not null,
  logo_url text,
  cover_url text,
  about_ar text constraint organisations_about_length check (char_length(about_ar) <= 4000),
  phone text constraint organisations_phone_form check (phone ~ '^\+965[0-9]{8}$'),
  whatsapp text constraint organisations_whatsapp_form check (whatsapp ~ '^\+965[0-9]{8}$'),
  email text constraint organisations_email_length check (char_length(email) <= 254),
  website text constraint organisations_website_form check (
    website ~ '^https://[^[:space:]]{3,}$' and char_length(website) <= 300
  ),
  governorate_id text references public.governorates (id),
  area_id text,
  address_ar text constraint organisations_address_length check (char_length(address_ar) <= 300),
  working_hours text
    constraint organisations_working_hours_length check (char_length(working_hours) <= 300),
  verified boolean not null default false,
  active boolean not null default false,
  holds_licence boolean not null default false,
  listed boolean not null generated always as (active and verified) stored,
  words tsvector not null generated always as (
    array_to_tsvector(private.search_words(name_ar || ' ' || coalesce(name_en, '')))
  ) stored,
  rating_avg numeric(3, 2),
  rating_count integer not null default 0,
  rating_weighed numeric(5, 4) not null
    generated always as (private.weighed_rating(rating_avg, rating_count)) stored,
  active_listings_count integer not null default 0,
  median_response_minutes integer,
  created_at timestamptz not null default now(),
  constraint organisations_area_is_of_governorate
    foreign key (governorate_id, area_id) references public.areas (governorate_id, id)
);
comment on table public.organisations is
  'The public page of a company or office identity. Goes with the identity.';
comment on column public.organisations.type is 'company or office; kept by triggers.';
comment on column public.organisations.slug is 'For addresses of pages; set by the database.';
comment on column public.organisations.licence_no is
  'Commercial licence, as it was typed until an admin has seen it; one organisation holds it.';
comment on column public.organisations.licence_expires_on is
  'Last day on which it is valid (Asia/Kuwait).';
comment on column public.organisations.verified is 'An admin has seen the licence.';
comment on column public.organisations.active is
  'Its identity and account may act; kept by triggers.';
comment on column public.organisations.holds_licence is
  'Its identity is active, expired or suspended; kept by triggers. Who waits or was rejected claims '
  'a licence and holds none.';
comment on column public.organisations.listed is 'Everybody sees it.';
comment on column public.organisations.words is 'The words of its names, as searches compare them.';
comment on column public.organisations.rating_avg is
  'Average of reviews, 1 to 5; kept by a trigger.';
comment on column public.organisations.rating_weighed is 'By which lists by rating are ordered.';
comment on column public.organisations.active_listings_count is 'Listings that everybody sees now.';
comment on column public.organisations.median_response_minutes is 'Measured from chat by a job.';
create unique index organisations_licence_is_held_once on public.organisations (licence_no)
  where holds_licence;
-- For all that claim a licence.
create index organisations_licence_no_idx on public.organisations (licence_no);

-- One for each order of the lists, led by the place where one is asked for.
create index organisations_rating_idx on public.organisations
  (type, (- rating_weighed), identity_id) where listed;
create index organisations_governorate_rating_idx on public.organisations
  (governorate_id, type, (- rating_weighed), identity_id) where listed;
create index organisations_area_rating_idx on public.organisations
  (area_id, type, (- rating_weighed), identity_id) where listed;
create index organisations_listings_idx on public.organisations
  (type, (- active_listings_count), identity_id) where listed;
create index organisations_governorate_listings_idx on public.organisations
  (governorate_id, type, (- active_listings_count), identity_id) where listed;
create index organisations_area_listings_idx on public.organisations
  (area_id, type, (- active_listings_count), identity_id) where listed;
create index organisations_newest_idx on public.organisations
  (type, created_at, identity_id) where listed;
create index organisations_governorate_newest_idx on public.organisations
  (governorate_id, type, created_at, identity_id) where listed;
create index organisations_area_newest_idx on public.organisations
  (area_id, type, created_at, identity_id) where listed;
-- For words that are too rare to be met soon in any of those orders.
create index organisations_words_idx on public.organisations using gin (words) where listed;
-- For the job that looks for expired licences.
create index organisations_licence_expires_idx on public.organisations (licence_expires_on)
  where active;
create index organisations_place_idx on public.organisations (governorate_id, area_id);

alter table public.organisations enable row level security;
revoke all on public.organisations from anon, authenticated;
grant select on public.organisations to authenticated;
create policy "people see the organisations of their own identities" on public.organisations
  for select to authenticated
  using (identity_id in (
    select identities.id from public.identities
    where identities.account_id = (select private.account_id())
  ));

create table private.response_measures (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  measured_at timestamptz not null default '-infinity'
);
comment on table private.response_measures is
  'When each organisation''s answers were last measured. Goes with the identity.';
comment on column private.response_measures.measured_at is 'Those measured longest ago come first.';
create index response_measures_oldest_idx on private.response_measures (measured_at);
alter table private.response_measures enable row level security;
create policy "nobody but functions of their owner" on private.response_measures using (false);
