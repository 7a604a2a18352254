create table private.area_prices (
  is_only_row boolean primary key default true
    constraint area_prices_have_one_row check (is_only_row),
  items json not null,
  computed_at timestamptz not null
);
comment on table private.area_prices is
  'The result of private.map_area_prices without filters. Never purged: it has one row.';

alter table private.area_prices enable row level security;
grant select on private.area_prices to acting;
create policy "everybody sees the prices of areas" on private.area_prices
  for select to acting using (true);
