create function private.weighed_rating(average numeric, count integer) returns numeric
  language plpgsql immutable parallel safe set search_path = ''
as $$
declare
  -- Between 3, the middle of the scale, and the 4 or more that most businesses get, so that a
  -- business with good reviews ranks above an unrated one, and one with bad reviews below it.
  expected constant numeric := 3.5;
  -- With ten reviews, a business's own average has the same weight as the expected rating. Ten fake
  -- reviews have a weight of about a tenth among a hundred real ones.
  weight constant integer := 10;
begin
  return round(
    (expected * weight + coalesce(average, 0) * count) / (weight + count), 4);
end
$$;
comment on function private.weighed_rating is
  'A Bayesian average that is never shown. The fewer reviews there are, the closer it is to the '
  'expected rating.';

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
  phone text
    constraint organisations_phone_form check (phone ~ '^\+965([0-9]{8}|18[0-9]{5})$'),
  whatsapp text
    constraint organisations_whatsapp_form check (whatsapp ~ '^\+965([0-9]{8}|18[0-9]{5})$'),
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
comment on table public.organisations is 'The page of a company or office. Deleted with the identity.';
comment on column public.organisations.slug is 'The name in the URL of the page; set by the database.';
comment on column public.organisations.licence_no is
  'Not verified until an admin has checked it. Only one identity at a time can hold a licence.';
comment on column public.organisations.licence_expires_on is
  'The last day on which the licence is valid (Asia/Kuwait).';
comment on column public.organisations.verified is 'Whether an admin has checked the licence.';
comment on column public.organisations.active is 'Whether the identity may act; set by triggers.';
comment on column public.organisations.holds_licence is
  'Whether the licence is reserved: the identity is active, expired or suspended.';
comment on column public.organisations.listed is 'Whether the page is public.';
comment on column public.organisations.words is
  'The words of both names in the form used for searching.';
comment on column public.organisations.rating_avg is 'The average rating from 1 to 5; set by a trigger.';
comment on column public.organisations.rating_weighed is 'The rating that lists are sorted by.';
create unique index organisations_licence_is_held_once on public.organisations (licence_no)
  where holds_licence;
create index organisations_licence_no_idx on public.organisations (licence_no);

-- Each sort order of the lists has three indexes: without an area, by governorate, and by area.
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
-- This index is for rare words, for which scanning one of the indexes above would take too long.
create index organisations_words_idx on public.organisations using gin (words) where listed;
create index organisations_licence_expires_idx on public.organisations (licence_expires_on)
  where active;
create index organisations_area_idx on public.organisations (governorate_id, area_id);

alter table public.organisations enable row level security;
revoke all on public.organisations from anon, authenticated;
grant select on public.organisations to authenticated;
grant select, insert, update (name_ar, name_en, licence_no, licence_expires_on, about_ar, phone,
  whatsapp, email, website, governorate_id, area_id, address_ar, working_hours, logo_url, cover_url)
  on public.organisations to acting;
create policy "people see the organisations of their own identities" on public.organisations
  for select to authenticated
  using (identity_id in (
    select identities.id from public.identities
    where identities.account_id = (select private.account_id())
  ));
create policy "people see listed organisations, and those of their identities"
  on public.organisations for select to acting
  using (listed or identity_id in (
    select identities.id from public.identities
    where identities.account_id = (select private.account_id())
  ));
create policy "people add organisations of their own identities" on public.organisations
  for insert to acting
  with check (identity_id in (
    select identities.id from public.identities
    where identities.account_id = (select private.account_id())
  ));
create policy "people change the organisations of their own identities" on public.organisations
  for update to acting
  using (identity_id in (
    select identities.id from public.identities
    where identities.account_id = (select private.account_id())
  ));

create table private.response_measures (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  measured_at timestamptz not null default '-infinity'
);
comment on table private.response_measures is
  'When response times were last measured. Deleted with the identity.';
create index response_measures_oldest_idx on private.response_measures (measured_at);
alter table private.response_measures enable row level security;
create policy "nobody but functions of their owner" on private.response_measures using (false);
