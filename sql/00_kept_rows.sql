-- What is in columns that are about to go, put aside until 92_backfills.sql moves it. A script that
-- may run twice. It runs before the areas are compared and changed, on a new project with no effect.
--
-- In the schema of the extensions, because whatever is in one of ours and not in sql/ is dropped
-- with the columns.

-- Until counts had a table of their own (private.property_counters) they were columns of listings.
-- What the favorites say is counted anew.
do $$
begin
  if exists (
    select from information_schema.columns
    where table_schema = 'public' and table_name = 'properties' and column_name = 'views_count'
  ) then
    create table if not exists extensions.kept_views as
    select id as property_id, views_count as views from public.properties where views_count > 0;
    revoke all on extensions.kept_views from public, anon, authenticated;
  end if;
end
$$;
