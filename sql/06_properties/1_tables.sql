-- Clients write to these tables only through functions.

create sequence private.property_ref_no start 100001;

create table public.properties (
  id uuid primary key default gen_random_uuid(),
  ref_no bigint not null default nextval('private.property_ref_no')
    constraint properties_ref_no_key unique,
  owner_identity_id uuid not null references public.identities (id),
  type text not null
    constraint properties_type_is_known check (type in ('SALE', 'RENT', 'EXCHANGE')),
  status text not null default 'draft' constraint properties_status_is_known check (status in (
    'draft', 'pending_review', 'active', 'rejected', 'paused', 'sold', 'rented', 'exchanged',
    'expired', 'archived', 'suspended', 'deleted'
  )),
  status_reason text,
  suspended_from text,
  suspended_at timestamptz,

  kind text,
  usage text,
  title_ar text
    constraint properties_title_ar_length check (char_length(title_ar) between 5 and 120),
  title_en text
    constraint properties_title_en_length check (char_length(title_en) between 5 and 120),
  description_ar text
    constraint properties_description_ar_length check (char_length(description_ar) <= 4000),
  description_en text
    constraint properties_description_en_length check (char_length(description_en) <= 4000),

  -- The amounts repeat the check of the domain private.kwd instead of using the domain: it would
  -- reject a value before any trigger could report a clear error.
  price numeric constraint properties_price_is_in_dinars_with_three_decimals
    check (price between 0 and 99999999999.999 and price = round(price, 3)),
  is_negotiable boolean not null default false,
  property_income numeric constraint properties_income_is_in_dinars_with_three_decimals
    check (
      property_income between 0 and 99999999999.999 and property_income = round(property_income, 3)
    ),
  request_year smallint,
  required_year smallint,
  wanted_kinds text[] not null default '{}',
  wanted_area_ids text[] not null default '{}',
  rent_conditions jsonb not null default '[]',
  additional_expenses jsonb not null default '[]',

  land_area_m2 numeric
    constraint properties_land_area_range check (land_area_m2 between 1 and 10000000),
  built_area_m2 numeric
    constraint properties_built_area_range check (built_area_m2 between 1 and 10000000),
  area_m2 numeric generated always as (coalesce(land_area_m2, built_area_m2)) stored,
  bedrooms smallint constraint properties_bedrooms_range check (bedrooms between 0 and 100),
  bathrooms smallint constraint properties_bathrooms_range check (bathrooms between 0 and 100),
  floor_no smallint constraint properties_floor_no_range check (floor_no between -10 and 200),
  building_year smallint
    constraint properties_building_year_range check (building_year between 1900 and 2100),
  furnished text,
  plot_position text,
  finishing text,
  amenities text[] not null default '{}',
  document_type text,
  is_direct boolean not null default false,

  governorate_id text references public.governorates (id),
  area_id text,
  block text constraint properties_block_length check (char_length(block) between 1 and 30),
  street text constraint properties_street_length check (char_length(street) between 1 and 120),
  building text
    constraint properties_building_length check (char_length(building) between 1 and 60),
  paci_no text constraint properties_paci_no_form check (paci_no ~ '^[0-9]{8}$'),
  lat double precision constraint properties_lat_is_in_kuwait check (lat between 28.45 and 30.15),
  lng double precision constraint properties_lng_is_in_kuwait check (lng between 46.50 and 48.80),
  location_precision text,
  shown_lat double precision,
  shown_lng double precision,

  allow_call boolean not null default true,
  allow_whatsapp boolean not null default true,
  allow_chat boolean not null default true,

  version integer not null default 1,
  pictures_version integer not null default 0,
  created_at timestamptz not null default now(),
  published_at timestamptz,
  confirmed_at timestamptz,
  expires_at timestamptz,
  paused_at timestamptz,
  pause_reason text
    constraint properties_pause_reason_is_known check (pause_reason in ('unproven_past', 'plan')),
  closed_at timestamptz,
  was_closed boolean not null default false,
  deleted_at timestamptz,
  unlisted_since timestamptz,
  unlisted_for interval not null default '0',
  pending_changes jsonb,

  listed boolean not null default false,
  owner_type text not null,
  owner_verified boolean not null default false,
  owner_active boolean not null default false,
  auction_starts_at timestamptz,
  auction_ends_at timestamptz,
  drop_pct numeric(5, 2),
  drop_until timestamptz,

  constraint properties_area_is_of_governorate
    foreign key (governorate_id, area_id) references public.areas (governorate_id, id),
  constraint properties_area_has_a_governorate
    check (area_id is null or governorate_id is not null),
  constraint properties_location_is_whole check (num_nulls(lat, lng, location_precision) in (0, 3)),
  constraint properties_rent_fields_are_for_rent check (
    type = 'RENT' or rent_conditions = '[]' and additional_expenses = '[]'
  ),
  constraint properties_exchange_fields_are_for_exchange check (
    type = 'EXCHANGE' or num_nonnulls(request_year, required_year) = 0
      and wanted_kinds = '{}' and wanted_area_ids = '{}'
  ),
  constraint properties_years_range check (
    coalesce(request_year, 1950) between 1950 and 2100
    and coalesce(required_year, 1950) between 1950 and 2100
  ),
  constraint properties_direct_is_for_individuals check (
    not is_direct or owner_type = 'individual'
  ),
  constraint properties_published_is_complete check (
    status not in ('active', 'pending_review', 'paused', 'sold', 'rented', 'exchanged', 'expired')
    or (
      num_nulls(kind, area_id, title_ar) = 0 and coalesce(land_area_m2, built_area_m2) is not null
      and (type = 'EXCHANGE' or price is not null)
    )
  ),
  constraint properties_listed_say_since_and_until_when check (
    status not in ('active', 'paused', 'expired') or num_nulls(published_at, expires_at) = 0
  ),
  constraint properties_paused_say_when check (
    case status when 'paused' then paused_at is not null when 'active' then paused_at is null
      else true end
  ),
  constraint properties_paused_alone_says_why
    check (pause_reason is null or status in ('paused', 'suspended')),
  constraint properties_closed_say_when check (
    case
      when status in ('sold', 'rented', 'exchanged') then num_nulls(published_at, closed_at) = 0
      when status in ('active', 'paused') then closed_at is null
      else true
    end
  ),
  constraint properties_suspended_know_what_they_were check (
    (status = 'suspended' or status = 'deleted' and suspended_from is not null)
      = (suspended_from is not null)
    and suspended_from not in ('suspended', 'deleted')
  ),
  constraint properties_deleted_say_when check ((status = 'deleted') = (deleted_at is not null))
);

comment on table public.properties is 'Listings. Cleaned by private.purge_deleted_listings.';
comment on column public.properties.ref_no is 'Displayed with a prefix, such as KW-104233.';
comment on column public.properties.owner_identity_id is
  'The owner. Only private.move_properties changes it.';
comment on column public.properties.status is 'The allowed transitions are in 2_rules_states.sql.';
comment on column public.properties.status_reason is 'The reason for a rejection or suspension.';
comment on column public.properties.suspended_from is 
  'The state to return to after suspension; kept if the listing is deleted while suspended.';
comment on column public.properties.suspended_at is
  'When the suspension began. Lifting it extends expires_at by the length of the suspension.';
comment on column public.properties.price is 'In KWD, per month for RENT; null if not stated.';
comment on column public.properties.property_income is
  'The monthly income from the property in KWD. 0 is valid.';
comment on column public.properties.request_year is
  'EXCHANGE: the year of the offered property (طلب).';
comment on column public.properties.wanted_area_ids is
  'EXCHANGE: the areas in which the owner wants a property in return.';
comment on column public.properties.additional_expenses is
  'RENT: [{code, labelAr, amount, period}].';
comment on column public.properties.area_m2 is
  'The area of the plot, or the built area if that is unknown.';
comment on column public.properties.floor_no is '0 is the ground floor.';
comment on column public.properties.is_direct is
  'Offered without a broker. Only individuals may set it.';
comment on column public.properties.block is 'The block of the address (قطعة).';
comment on column public.properties.paci_no is 'The civil number of the address (PACI), 8 digits.';
comment on column public.properties.lat is 'Degrees north, as entered; other people see shown_lat.';
comment on column public.properties.lng is 'Degrees east, as entered; other people see shown_lng.';
comment on column public.properties.shown_lat is
  'The latitude shown to other people and used by searches; set by a trigger. Without a pin, or '
  'with the precision area, it is the latitude of the area. With the precision block, it is lat '
  'rounded to about 250 m.';
comment on column public.properties.version is
  'Incremented by every change of the fields or the state.';
comment on column public.properties.pictures_version is
  'Incremented when pictures that await approval change. Admins see version plus pictures_version.';
comment on column public.properties.published_at is
  'When the listing was first published. Renewing does not change it.';
comment on column public.properties.confirmed_at is
  'When the listing was last published, renewed or confirmed to be available.';
comment on column public.properties.paused_at is
  'When the pause began. Ending it extends expires_at by the length of the pause.';
comment on column public.properties.pause_reason is
  'unproven_past: published before the owner proved that the email is theirs. plan: the listing '
  'exceeded the quota of the plan. null: the owner paused it.';
comment on column public.properties.was_closed is
  'Whether the listing was sold, rented or exchanged since it was last active. The people who '
  'saved it were notified then, and are notified again when it becomes active.';
comment on column public.properties.deleted_at is
  'When the listing was deleted. Its row is kept for 90 more days.';
comment on column public.properties.pending_changes is 'Changes that an admin has to approve.';
comment on column public.properties.listed is
  'Whether everybody can see the listing: it is active and its owner may act.';
comment on column public.properties.owner_type is
  'A copy of the type of the owner. Triggers and private.move_properties keep it current.';
comment on column public.properties.owner_verified is
  'Whether the owner is verified. Triggers and private.move_properties keep this copy current.';
comment on column public.properties.owner_active is
  'Whether the owner may act. Triggers and private.move_properties keep this copy current.';
comment on column public.properties.unlisted_since is
  'When a published listing stopped being listed; null while it is listed.';
comment on column public.properties.unlisted_for is
  'The total time that the listing was not listed after its first publication. A period that still '
  'lasts (unlisted_since) is not included.';
comment on column public.properties.drop_until is 'When the deal ends.';

create index properties_owner_idx
  on public.properties (owner_identity_id, created_at desc, id desc);
create index properties_owner_listed_idx
  on public.properties (owner_identity_id, published_at desc, id desc) where listed;
create index properties_drafts_idx on public.properties (owner_identity_id)
  where status = 'draft' or status = 'archived' and published_at is null;
create index properties_area_idx on public.properties (governorate_id, area_id);
create index properties_area_points_idx on public.properties (area_id, shown_lat, shown_lng)
  where coalesce(location_precision, 'area') = 'area';
create index properties_deleted_idx on public.properties (deleted_at) where status = 'deleted';
create index properties_expires_idx on public.properties (expires_at) where status = 'active';
-- Finds similar listings: those of the same type, kind and area with the nearest prices.
create index properties_similar_idx
  on public.properties (type, kind, area_id, (coalesce(price, -1))) where listed;

create table public.price_history (
  id bigint generated always as identity primary key,
  property_id uuid not null references public.properties (id) on delete cascade,
  price private.kwd,
  changed_at timestamptz not null default clock_timestamp(),
  unlisted_for interval not null default '0'
);
comment on table public.price_history is
  'Published prices of the last two years. Rows are never updated. Cleaned by '
  'private.record_price.';
comment on column public.price_history.price is
  'The price in KWD from changed_at onwards; null if not stated.';
comment on column public.price_history.unlisted_for is
  'The total time up to changed_at in which the listing was not listed.';
create index price_history_property_idx
  on public.price_history (property_id, changed_at desc, id desc);

create table public.auctions (
  property_id uuid primary key references public.properties (id) on delete cascade,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  start_price private.kwd not null,
  min_increment private.kwd not null,
  created_at timestamptz not null default now(),
  constraint auctions_window_is_forward check (ends_at > starts_at),
  constraint auctions_min_increment_is_positive check (min_increment > 0)
);
comment on table public.auctions is 'Auction windows of sale listings. Deleted with the listing.';
comment on column public.auctions.start_price is 'The minimum first bid in KWD.';
comment on column public.auctions.min_increment is 'The minimum increase between bids in KWD.';

alter table public.properties enable row level security;
alter table public.price_history enable row level security;
alter table public.auctions enable row level security;
revoke all on public.properties, public.price_history, public.auctions from anon, authenticated;
grant select on public.properties, public.price_history, public.auctions to authenticated;
-- The select policy for the role acting is in 07_favorites/2_rules.sql.
grant select, insert, update on public.properties to acting;
grant usage on sequence private.property_ref_no to acting;
grant select on public.price_history to acting;
grant select, insert, update, delete on public.auctions to acting;
-- Not even service_role may write prices. Only trigger functions that run as their owner do.
revoke insert, update, delete, truncate on public.price_history from service_role;

-- Other people read listings through functions that select the public columns (3_records.sql).
create policy "owners see their own properties" on public.properties for select to authenticated
  using (owner_identity_id = (select private.identity_id()) and status <> 'deleted');
create policy "owners see the prices of their own" on public.price_history
  for select to authenticated
  using (property_id in (
    select properties.id from public.properties
    where properties.owner_identity_id = (select private.identity_id())
  ));
create policy "owners see their own auctions" on public.auctions for select to authenticated
  using (property_id in (
    select properties.id from public.properties
    where properties.owner_identity_id = (select private.identity_id())
  ));
create policy "identities add properties of their own" on public.properties for insert to acting
  with check (owner_identity_id = (select private.identity_id()));
create policy "owners change their own properties" on public.properties for update to acting
  using (owner_identity_id = (select private.identity_id()));
create policy "people see the prices of properties that they see" on public.price_history
  for select to acting
  using (exists (select from public.properties where properties.id = price_history.property_id));
create policy "owners change their own auctions" on public.auctions to acting
  using (exists (
    select from public.properties
    where properties.id = auctions.property_id
      and properties.owner_identity_id = (select private.identity_id())
  ));
