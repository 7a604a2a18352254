create table private.area_prices (
  is_only_row boolean primary key default true
    constraint area_prices_have_one_row check (is_only_row),
  items json not null,
  computed_at timestamptz not null
);
comment on table private.area_prices is
  'The cached result of private.map_area_prices without filters. Never purged: it has one row.';

alter table private.area_prices enable row level security;
grant select on private.area_prices to acting;
create policy "everybody sees the prices of areas" on private.area_prices
  for select to acting using (true);

create table private.area_price_history (
  area_id text not null,
  type text not null,
  kind text not null,
  month date not null
    constraint area_price_history_months_begin_on_the_first check (extract(day from month) = 1),
  listings integer not null,
  median_price numeric,
  median_price_per_m2 numeric,
  primary key (area_id, type, kind, month)
);
comment on table private.area_price_history is
  'Results of private.area_figures, stored by the last run of private.keep_area_prices in each '
  'month. Never purged: it has a row for each month, area, type and kind.';
create index area_price_history_month_idx on private.area_price_history (month);

alter table private.area_price_history enable row level security;
grant select on private.area_price_history to acting;
create policy "everybody sees the prices of areas" on private.area_price_history
  for select to acting using (true);
