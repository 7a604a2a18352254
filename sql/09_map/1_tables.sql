create table private.area_prices (
  is_only_row boolean primary key default true
    constraint area_prices_have_one_row check (is_only_row),
  items json not null,
  computed_at timestamptz not null
);
comment on table private.area_prices is
  'The result of private.map_area_prices without filters. Never purged: it has one row.';

alter table private.area_prices enable row level security;
create policy "nobody but functions of their owner" on private.area_prices using (false);
