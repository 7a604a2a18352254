-- What waits for an admin: listings to be reviewed, changes of published listings, companies and
-- offices to be verified, reports.

create function private.find_waiting(
  filters jsonb, since timestamptz, until timestamptz, sort text,
  after_key jsonb, row_limit integer
)
  returns table (id uuid, since_at timestamptz, kind text)
  language plpgsql
  stable
  rows 20
  security definer -- reads what belongs to others; its caller requires an admin
  set search_path = ''
  set plan_cache_mode = 'force_custom_plan' -- a filter that is not given costs nothing
as $$
declare
  asked_kind constant text := filters ->> 'kind';
  asked_account constant uuid := filters ->> 'account_id';
  -- What only one kind has leaves out the others.
  of_listings constant boolean := filters ?| array['listing_type', 'area_id'];
  of_identities constant boolean := filters ? 'identity_type';
  of_reports constant boolean := filters ?| array['target_type', 'report_reason'];
begin
  return query
  select waiting.id, waiting.at, waiting.kind
  from (
    (
      select properties.id, properties.created_at as at,
        case properties.status when 'pending_review' then 'listing' else 'changes' end as kind
      from public.properties
      where not (of_identities or of_reports)
        and private.awaits_review(properties)
        and (asked_kind is null or asked_kind =
          case properties.status when 'pending_review' then 'listing' else 'changes' end)
        and (not filters ? 'listing_type' or properties.type = filters ->> 'listing_type')
        and (not filters ? 'area_id' or properties.area_id = filters ->> 'area_id')
        and (asked_account is null or properties.owner_identity_id in (
          select identities.id from public.identities where identities.account_id = asked_account
        ))
        and (since is null or properties.created_at >= since)
        and (until is null or properties.created_at < until)
        and case
          when after_key is null then true
          when sort = 'newest' then (properties.created_at, properties.id)
            < ((after_key ->> 0)::timestamptz, (after_key ->> 1)::uuid)
          else (properties.created_at, properties.id)
            > ((after_key ->> 0)::timestamptz, (after_key ->> 1)::uuid)
        end
      order by
        case when sort = 'newest' then properties.created_at end desc,
        case when sort = 'newest' then properties.id end desc,
        properties.created_at, properties.id
      limit row_limit
    ) union all (
      select identities.id, identities.created_at, 'identity'
      from public.identities
      where not (of_listings or of_reports)
        and identities.status = 'pending_verification'
        and (asked_kind is null or asked_kind = 'identity')
        and (not filters ? 'identity_type' or identities.type = filters ->> 'identity_type')
        and (asked_account is null or identities.account_id = asked_account)
        and (since is null or identities.created_at >= since)
        and (until is null or identities.created_at < until)
        and case
          when after_key is null then true
          when sort = 'newest' then (identities.created_at, identities.id)
            < ((after_key ->> 0)::timestamptz, (after_key ->> 1)::uuid)
          else (identities.created_at, identities.id)
            > ((after_key ->> 0)::timestamptz, (after_key ->> 1)::uuid)
        end
      order by
        case when sort = 'newest' then identities.created_at end desc,
        case when sort = 'newest' then identities.id end desc,
        identities.created_at, identities.id
      limit row_limit
    ) union all (
      select reports.id, reports.created_at, 'report'
      from public.reports
      where not (of_listings or of_identities)
        and reports.status = 'open'
        and (asked_kind is null or asked_kind = 'report')
        and (not filters ? 'target_type' or reports.target_type = filters ->> 'target_type')
        and (not filters ? 'report_reason' or reports.reason = filters ->> 'report_reason')
        and (asked_account is null or reports.account_id = asked_account)
        and (since is null or reports.created_at >= since)
        and (until is null or reports.created_at < until)
        and case
          when after_key is null then true
          when sort = 'newest' then (reports.created_at, reports.id)
            < ((after_key ->> 0)::timestamptz, (after_key ->> 1)::uuid)
          else (reports.created_at, reports.id)
            > ((after_key ->> 0)::timestamptz, (after_key ->> 1)::uuid)
        end
      order by
        case when sort = 'newest' then reports.created_at end desc,
        case when sort = 'newest' then reports.id end desc,
        reports.created_at, reports.id
      limit row_limit
    )
  ) as waiting
  order by
    case when sort = 'newest' then waiting.at end desc,
    case when sort = 'newest' then waiting.id end desc,
    waiting.at, waiting.id
  limit row_limit;
end
$$;
comment on function private.find_waiting is
  'What waits, after a key of the sort. Every kind has an index for its part; the filters that are '
  'null are no keys of filters.';

create function private.waiting_identity_json(identity public.identities) returns json
  language plpgsql
  stable
  security definer -- reads an account of another; its caller requires an admin
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'accountId', accounts.id,
      'fullName', individual_profiles.full_name,
      'email', accounts.email,
      'phone', accounts.phone,
      'record', private.identity_record(identity)
    )
    from public.accounts
    left join public.individual_profiles on individual_profiles.account_id = accounts.id
    where accounts.id = identity.account_id
  );
end
$$;
comment on function private.waiting_identity_json is
  'A company or office that waits: its record with the licence, and whose it is.';

create function private.list_moderation(
  kind text, account_id uuid, listing_type text, area_id text, identity_type text,
  target_type text, report_reason text, since timestamptz, until timestamptz, sort text,
  page_cursor text, page_size integer
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads what belongs to others, for an admin
  set search_path = ''
as $$
declare
  filters constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'kind', kind, 'account_id', account_id, 'listing_type', listing_type, 'area_id', area_id,
    'identity_type', identity_type, 'target_type', target_type, 'report_reason', report_reason));
  query text := concat_ws(' ', 'list_moderation', private.require_admin(), filters,
    jsonb_build_array(since, until, sort));
  key jsonb := private.cursor_key(query, page_cursor);
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', 'invalid')), '[]')
    from (values
      ('kind', kind in ('listing', 'changes', 'identity', 'report')),
      ('listingType', listing_type in ('SALE', 'RENT', 'EXCHANGE')),
      ('identityType', identity_type in ('company', 'office')),
      ('targetType', target_type is null or private.is_word('report_target', target_type)),
      ('reportReason', report_reason is null or private.is_word('report_reason', report_reason)),
      ('sort', coalesce(sort in ('oldest', 'newest'), false))
    ) as rule (path, holds)
    where holds is false
  ));
  return query
  with page as materialized (
    select found.id, found.since_at, found.kind, row_number() over () as place
    from private.find_waiting(
      filters, since, until, sort, key, private.page_size(page_size) + 1) as found
  )
  select
    coalesce(json_agg(json_build_object(
      'id', page.id,
      'kind', page.kind,
      'since', page.since_at,
      'decisions', case page.kind
        when 'report' then array['uphold', 'dismiss']
        when 'identity' then private.identity_moderation(identities)
        else private.property_decisions(properties)
      end,
      'listing', records.record,
      'changes', properties.pending_changes,
      'identity', case when page.kind = 'identity' then
        private.waiting_identity_json(identities) end,
      'report', private.admin_report_json(reports)
    ) order by page.place) filter (where page.place <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.since_at, page.id) order by page.place)
        filter (where page.place >= page_size))
  from page
  left join public.properties on properties.id = page.id
  left join private.property_records(array(select page.id from page), null) as records
    on records.id = page.id
  left join public.identities on identities.id = page.id
  left join public.reports on reports.id = page.id;
end
$$;
comment on function private.list_moderation is 'A page of what waits; see api.list_moderation.';

create function api.list_moderation(
  kind text default null, account_id uuid default null, listing_type text default null,
  area_id text default null, identity_type text default null, target_type text default null,
  report_reason text default null, since timestamptz default null,
  until timestamptz default null, sort text default 'oldest',
  page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select waiting.items, waiting."nextCursor"
  from private.list_moderation(kind, account_id, listing_type, area_id, identity_type, target_type,
    report_reason, since, until, sort, page_cursor, page_size) as waiting;
end
$$;
comment on function api.list_moderation is
  'For admins: what waits for a decision, the oldest or newest first, with the decisions that are '
  'open. A filter that only one kind has leaves out the others; account_id is that of the owner or '
  'reporter. 403 admin_only.';

grant execute on function private.list_moderation to authenticated;
grant execute on function api.list_moderation to authenticated;
