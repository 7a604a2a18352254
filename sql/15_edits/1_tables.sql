create table private.needed_rows (
  table_name text not null,
  name text not null,
  primary key (table_name, name)
);
comment on table private.needed_rows is
  'Rows that must exist. If one is missing, an alarm is raised. Never purged: each release has the '
  'full list.';
alter table private.needed_rows enable row level security;
create policy "nobody but functions of their owner" on private.needed_rows using (false);

create view private.named_rows with (security_invoker = true) as
  select 'private.rates' as table_name, rates.rule as name from private.rates
  union all select 'private.settings', settings.name from private.settings
  union all select 'public.plans', plans.code from public.plans where plans.code = 'free'
  union all select 'public.wallets', wallets.system_account from public.wallets
    where wallets.system_account is not null
  union all select 'public.vocabularies', vocabularies.vocabulary || ' ' || vocabularies.code
    from public.vocabularies
  union all select 'public.governorates', governorates.id from public.governorates
  union all select 'public.areas', areas.id from public.areas
  union all select 'storage.buckets', buckets.id from storage.buckets;
comment on view private.named_rows is
  'The current rows of the kinds that must not go missing. A release copies their names into '
  'private.needed_rows.';
revoke all on private.needed_rows, private.named_rows
  from public, anon, authenticated, service_role;
