-- The map: prices of areas that are kept. What is listed is in private.search_documents.

create table private.area_prices (
  is_only_row boolean primary key default true
    constraint area_prices_have_one_row check (is_only_row),
  items json not null,
  computed_at timestamptz not null
);
comment on table private.area_prices is
  'What private.map_area_prices gave without filters some minutes ago: one row, written by a job. '
  'Stays: one row.';

alter table private.area_prices enable row level security;
create policy "nobody but functions of their owner" on private.area_prices using (false);
