create function private.waiting_counts() returns json
  language plpgsql stable set search_path = ''
as $$
begin
  return json_build_object(
    'identities', (
      select count(*) from public.identities where private.awaits_verification(identities)
    ),
    'listings', (
      select count(*) from public.properties
      where private.awaits_review(properties) and properties.status = 'pending_review'
    ),
    'changes', (
      select count(*) from public.properties
      where private.awaits_review(properties) and properties.status <> 'pending_review'
    ),
    'reports', (select count(*) from public.reports where reports.status = 'open'),
    'payouts', (select count(*) from public.wallet_payouts
      where wallet_payouts.state = 'open' and (wallet_payouts.not_before > now()) is not true)
  );
end
$$;

create function private.get_admin_stats(days integer default 0) returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.require_admin();
  if (days between 0 and 90) is not true then
    perform private.refuse_field('days', 'invalid');
  end if;
  return json_build_object(
    'users', (
      select json_build_object(
        'total', coalesce(sum(counted.number), 0),
        'byStatus', coalesce(json_object_agg(counted.status, counted.number), '{}'),
        'toBeDeleted', (select count(*) from public.accounts where accounts.delete_at is not null))
      from (
        select accounts.status, count(*) as number from public.accounts group by accounts.status
      ) as counted
    ),
    'newUsers', (
      select count(*) from public.accounts where accounts.created_at > now() - interval '7 days'
    ),
    'identities', (
      select json_build_object(
        'total', coalesce(sum(counted.number), 0),
        'byType', (
          select json_object_agg(types.type, types.by_status) from (
            select each.type, json_object_agg(each.status, each.number) as by_status
            from (
              select identities.type, identities.status, count(*) as number
              from public.identities group by identities.type, identities.status
            ) as each
            group by each.type
          ) as types
        ))
      from (
        select count(*) as number from public.identities
      ) as counted
    ),
    'listings', (
      select json_build_object(
        'total', coalesce(sum(counted.number), 0),
        'byStatus', coalesce(json_object_agg(counted.status, counted.number), '{}'))
      from (
        select properties.status, count(*) as number
        from public.properties group by properties.status
      ) as counted
    ),
    'waiting', private.waiting_counts(),
    'byDay', case when days > 0 then private.stats_by_day(days) else '[]' end
  );
end
$$;
comment on function private.get_admin_stats is
  'Api: For admins: the numbers of users, identities and listings by state, the length of the '
  'queue, and daily figures for up to 90 days. 403 admin_only.';

grant execute on function private.get_admin_stats to authenticated;
