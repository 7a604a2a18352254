create function private.waiting_source(filters jsonb, sort text) returns text
  language plpgsql stable set search_path = ''
as $$
declare
  -- A filter or sort that exists only for some kinds of items leaves out items of all other kinds.
  of_listings constant boolean := sort !~ 'licenceExpiresOn|reports' and not filters ?|
    array['identity_type', 'licence_no', 'licence_expires_before', 'target_type', 'target_id',
      'report_reason'];
  of_identities constant boolean := sort !~ 'price|reports' and not filters ?|
    array['listing_type', 'listing_kind', 'area_id', 'ref_no', 'price_min', 'price_max',
      'target_type', 'target_id', 'report_reason'];
  of_reports constant boolean := sort !~ 'name|price|licenceExpiresOn' and not filters ?|
    array['listing_type', 'listing_kind', 'area_id', 'ref_no', 'price_min', 'price_max',
      'identity_type', 'licence_no', 'licence_expires_before'];
  of_duplicates constant boolean := sort !~ 'name|price|licenceExpiresOn|reports' and not filters ?|
    array['q', 'listing_type', 'listing_kind', 'area_id', 'ref_no', 'price_min', 'price_max',
      'identity_type', 'licence_no', 'licence_expires_before', 'target_type', 'target_id',
      'report_reason'];
  of_payouts constant boolean := sort !~ 'price|licenceExpiresOn|reports' and not filters ?|
    array['listing_type', 'listing_kind', 'area_id', 'ref_no', 'price_min', 'price_max',
      'identity_type', 'licence_no', 'licence_expires_before', 'target_type', 'target_id',
      'report_reason'];
begin
  -- The planner merges the branches as ordered index scans only if each reads one table without
  -- conditions.
  return format($sql$
    from (
      select properties.id, properties.created_at,
        private.name_order(properties.title_ar) collate "C" as name,
        coalesce(properties.title_ar, '') as words,
        coalesce(properties.price::numeric, '-Infinity') as price,
        null::date as licence_expires_on, 0::bigint as reports,
        %L and private.awaits_review(properties)
          and (not $1 ? 'kind' or $1 ->> 'kind' = case properties.status
            when 'pending_review' then 'listing' else 'changes' end)
          and (not $1 ? 'account_id' or properties.owner_identity_id in (
            select identities.id from public.identities
            where identities.account_id = ($1 ->> 'account_id')::uuid
          ))
          and (not $1 ? 'listing_type' or properties.type = $1 ->> 'listing_type')
          and (not $1 ? 'listing_kind' or properties.kind = $1 ->> 'listing_kind')
          and (not $1 ? 'area_id' or properties.area_id = $1 ->> 'area_id')
          and (not $1 ? 'ref_no' or properties.ref_no = ($1 ->> 'ref_no')::bigint)
          and (not $1 ? 'price_min' or properties.price >= ($1 ->> 'price_min')::numeric)
          and (not $1 ? 'price_max' or properties.price <= ($1 ->> 'price_max')::numeric)
          as waits
      from public.properties
      union all
      select identities.id, identities.created_at,
        private.name_order(identities.display_name) collate "C", identities.display_name,
        '-Infinity'::numeric,
        (
          select organisations.licence_expires_on from public.organisations
          where organisations.identity_id = identities.id
        ),
        0::bigint,
        %L and private.awaits_verification(identities)
          and (not $1 ? 'kind' or $1 ->> 'kind' = 'identity')
          and (not $1 ? 'account_id' or identities.account_id = ($1 ->> 'account_id')::uuid)
          and (not $1 ? 'identity_type' or identities.type = $1 ->> 'identity_type')
          and (not $1 ?| array['licence_no', 'licence_expires_before'] or exists (
            select from public.organisations
            where organisations.identity_id = identities.id
              and (not $1 ? 'licence_no' or $1 ->> 'licence_no'
                in (organisations.licence_no, identities.pending_changes ->> 'licenceNo'))
              and (not $1 ? 'licence_expires_before'
                or organisations.licence_expires_on < ($1 ->> 'licence_expires_before')::date)
          ))
      from public.identities
      union all
      select reports.id, reports.created_at, ''::text collate "C", coalesce(reports.note, ''),
        '-Infinity'::numeric, null::date,
        (
          select count(*) from public.reports as of_the_same
          where of_the_same.target_type = reports.target_type
            and of_the_same.target_id = reports.target_id and of_the_same.status = 'open'
        ),
        %L and reports.status = 'open'
          and (not $1 ? 'kind' or $1 ->> 'kind' = 'report')
          and (not $1 ? 'account_id' or reports.account_id = ($1 ->> 'account_id')::uuid)
          and (not $1 ? 'target_type' or reports.target_type = $1 ->> 'target_type')
          and (not $1 ? 'target_id' or reports.target_id = ($1 ->> 'target_id')::uuid)
          and (not $1 ? 'report_reason' or reports.reason = $1 ->> 'report_reason')
      from public.reports
      union all
      select duplicates.id, duplicates.created_at, ''::text collate "C", ''::text,
        '-Infinity'::numeric, null::date, 0::bigint,
        %L and duplicates.state = 'open'
          and (not $1 ? 'kind' or $1 ->> 'kind' = 'duplicate_suspected')
          and (not $1 ? 'account_id' or duplicates.property_id in (
            select properties.id from public.properties
            join public.identities on identities.id = properties.owner_identity_id
            where identities.account_id = ($1 ->> 'account_id')::uuid
          ))
      from public.duplicates
      union all
      select wallet_payouts.id, wallet_payouts.created_at,
        private.name_order(wallet_payouts.name) collate "C",
        coalesce(wallet_payouts.name, ''), '-Infinity'::numeric, null::date, 0::bigint,
        %L and wallet_payouts.state = 'open' and (wallet_payouts.not_before > now()) is not true
          and (not $1 ? 'kind' or $1 ->> 'kind' = 'wallet_payout')
          and (not $1 ? 'account_id' or wallet_payouts.account_id = ($1 ->> 'account_id')::uuid)
      from public.wallet_payouts
    ) as waiting
    where waiting.waits
      and (not $1 ? 'since' or waiting.created_at >= ($1 ->> 'since')::timestamptz)
      and (not $1 ? 'until' or waiting.created_at < ($1 ->> 'until')::timestamptz)
      and (not $1 ? 'q' or strpos(
        private.search_text(waiting.words), private.search_text($1 ->> 'q')) > 0)
    $sql$, of_listings, of_identities, of_reports, of_duplicates, of_payouts);
end
$$;
comment on function private.waiting_source is
  'Builds the query of the queue. If it is sorted by time, name or price, the query scans one '
  'index for each kind of item; any other sort reads the whole queue.';

create function private.payout_decisions(payout public.wallet_payouts) returns text[]
  language sql stable
  return case when payout.state = 'open' and (payout.not_before > now()) is not true
    then array['paid_out', 'written_off'] else '{}' end;

create function private.waiting_payout_json(payout public.wallet_payouts) returns json
  language sql stable
  return json_build_object(
    'accountId', payout.account_id, 'amount', payout.amount, 'name', payout.name,
    'phone', payout.phone, 'email', payout.email);

create function private.moderation_records(item_ids uuid[])
  returns table (ordinal bigint, record json)
  language plpgsql stable
  rows 20
  security definer -- reads other people's data; its caller calls require_admin
  set search_path = ''
as $$
declare
  listing_ids constant uuid[] := item_ids || array(
    select unnest(array[duplicates.property_id, duplicates.of_id]) from public.duplicates
    where duplicates.id = any (item_ids)
      or duplicates.property_id = any (item_ids) and duplicates.state = 'in_review'
  );
begin
  return query
  with records as materialized (
    select distinct on (shown.id) shown.id, shown.record
    from private.property_records(listing_ids, null) as shown
  )
  select
    requested.ordinal,
    json_build_object(
      'id', requested.id,
      'kind', case
        when pairs.id is not null then 'duplicate_suspected'
        when reports.id is not null then 'report'
        when wallet_payouts.id is not null then 'wallet_payout'
        when identities.id is not null then 'identity'
        when properties.status = 'pending_review' then 'listing'
        else 'changes'
      end,
      'since', coalesce(pairs.created_at, reports.created_at, wallet_payouts.created_at, identities.created_at,
        properties.created_at),
      'decisions', case
        when pairs.id is not null then private.duplicate_decisions(pairs)
        when reports.id is not null then array['uphold', 'dismiss']
        when wallet_payouts.id is not null then private.payout_decisions(wallet_payouts)
        when identities.id is not null then private.identity_moderation(identities)
        else private.property_decisions(properties)
      end,
      'version', coalesce(private.review_version(properties), private.page_version(identities.id)),
      'listing', records.record,
      'of', repeated.record,
      'changes', coalesce(properties.pending_changes, identities.pending_changes),
      'before', case
        when properties.pending_changes is not null
          then coalesce(private.listing_before(properties), '{}')
        when identities.pending_changes is not null
          then coalesce(private.page_before(identities), '{}')
      end,
      'pictures', case when properties.pending_changes ? 'media' then private.shown_content(
        jsonb_build_object('pictures', properties.pending_changes -> 'media')) -> 'pictures' end,
      'identity', case when identities.id is not null then
        private.waiting_identity_json(identities) end,
      'report', private.admin_report_json(reports),
      'payout', case when wallet_payouts.id is not null then
        private.waiting_payout_json(wallet_payouts) end,
      'claimedBy', private.claimed_by_json(requested.id),
      'notes', (
        select coalesce(json_agg(private.note_record(notes)
          order by notes.created_at desc, notes.id desc), '[]')
        from public.notes where notes.id in (
          select newest.id from public.notes as newest
          where newest.target_id = requested.id
          order by newest.created_at desc, newest.id desc
          limit 20
        )
      )
    )
  from unnest(item_ids) with ordinality as requested (id, ordinal)
  left join public.duplicates as pairs on pairs.id = requested.id
  left join public.properties on properties.id = coalesce(pairs.property_id, requested.id)
  left join records on records.id = properties.id
  left join lateral (
    select of_pair.record from public.duplicates
    join records as of_pair on of_pair.id = duplicates.of_id
    where duplicates.id = pairs.id
      or duplicates.property_id = requested.id and duplicates.state = 'in_review'
    order by duplicates.created_at desc, duplicates.id
    limit 1
  ) as repeated on true
  left join public.identities on identities.id = requested.id
  left join public.reports on reports.id = requested.id
  left join public.wallet_payouts on wallet_payouts.id = requested.id
  order by requested.ordinal;
end
$$;

create function private.list_moderation(
  kind text default null, q text default null, account_id uuid default null,
  listing_type text default null, listing_kind text default null, area_id text default null,
  ref_no bigint default null, price_min numeric default null, price_max numeric default null,
  identity_type text default null, licence_no text default null,
  licence_expires_before date default null, target_type text default null,
  target_id uuid default null, report_reason text default null, since timestamptz default null,
  until timestamptz default null, sort text default 'oldest', page_cursor text default null,
  page_size integer default 20
) returns table (items json, "nextCursor" text, reasons json)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  sorts constant jsonb := '{
    "oldest": ["waiting.created_at", "waiting.id"],
    "name": ["waiting.name", "waiting.id"],
    "price": ["waiting.price", "waiting.id"],
    "licenceExpiresOn": ["waiting.licence_expires_on", "waiting.id"],
    "reports": ["waiting.reports", "waiting.id"]
  }';
  filters constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'kind', kind, 'q', case when private.is_query(private.bounded(q, 120, 'q')) then q end,
    'account_id', account_id, 'listing_type', listing_type, 'listing_kind', listing_kind,
    'area_id', area_id, 'ref_no', ref_no, 'price_min', price_min, 'price_max', price_max,
    'identity_type', identity_type,
    'licence_no', upper(private.typed(licence_no, 40, 'licenceNo')),
    'licence_expires_before', licence_expires_before, 'target_type', target_type,
    'target_id', target_id, 'report_reason', report_reason, 'since', since, 'until', until));
  query text := concat_ws(' ', 'list_moderation', private.require_admin(), filters, sort);
  key jsonb := private.cursor_key(query, page_cursor);
  keys jsonb[];
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', 'invalid')), '[]')
    from (values
      ('kind', kind in (
        'listing', 'changes', 'identity', 'report', 'duplicate_suspected', 'wallet_payout')),
      ('listingType', listing_type in ('SALE', 'RENT', 'EXCHANGE')),
      ('identityType', identity_type in ('company', 'office')),
      ('targetType', target_type is null or private.is_word('report_target', target_type)),
      ('reportReason', report_reason is null or private.is_word('report_reason', report_reason)),
      ('sort', private.is_sort(sorts, sort))
    ) as rule (path, holds)
    where holds is false
  ));
  keys := private.sorted_keys(
    private.waiting_source(filters, sort), sorts, sort, filters, key, page_size);
  return query
  select
    coalesce(json_agg(records.record order by records.ordinal), '[]'),
    private.next_cursor(query, to_jsonb(keys[page_size:])),
    private.decision_reasons()
  from private.moderation_records(private.key_ids(keys[:page_size])::uuid[]) as records;
end
$$;
comment on function private.list_moderation is
  'Api: For admins: the queue with the possible decisions and common reasons, sorted by time or by '
  'a value of the items. A filter or sort that exists only for some kinds of items leaves out all '
  'other kinds; account_id is the owner or reporter. 403 admin_only.';

grant execute on function private.list_moderation to authenticated;
