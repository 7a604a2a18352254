create function private.get_organisation(
  type text, identity_id uuid, fields text default 'card'
) returns text
  language plpgsql stable security definer set search_path = ''
as $$
declare
  record text := (
    select records.record
    from public.organisations
    cross join lateral
      private.organisation_records(array[organisations.identity_id]) as records
    where organisations.identity_id = get_organisation.identity_id
      and organisations.type = get_organisation.type and organisations.listed
  );
  listings text;
begin
  if record is null then
    perform private.refuse(404, 'org_not_found');
  end if;
  listings := private.list_items(
    array(
      select properties.id from public.properties
      where properties.owner_identity_id = get_organisation.identity_id and properties.listed
      order by properties.published_at desc, properties.id desc
      limit 10
    ),
    private.identity_id(), fields);
  return left(record, -1) || ',"listings":' || listings
    || ',"reviews":' || private.review_summary(identity_id) || '}';
end
$$;
comment on function private.get_organisation is
  'Api: Returns a verified company or office with its ten newest listings (as cards, or as records '
  'if fields is full) and a summary of its reviews. 404 org_not_found if there is no such '
  'organisation of this type.';

create function private.list_organisation_listings(
  type text, status text default null, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.require_identity_type(list_organisation_listings.type);
  return query
  select mine.items, mine."nextCursor"
  from private.list_my_properties(
    list_organisation_listings.status, list_organisation_listings.page_cursor, list_organisation_listings.page_size
  ) as mine;
end
$$;
comment on function private.list_organisation_listings is
  'Api: Lists the listings of the acting company or office (type), newest first. status restricts '
  'them to one state.';

create function private.lead_sender(identity_id uuid) returns json
  language plpgsql stable
  security definer -- reads the name of another person; the caller may see the lead of that person
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'identityId', identities.id,
      'type', identities.type,
      'displayName', private.shown_name(identities),
      'avatarUrl', identities.avatar_url)
    from public.identities where identities.id = lead_sender.identity_id
  );
end
$$;

create function private.leads_of(owner_id uuid, page_cursor text, size integer)
  returns table (items json, "nextCursor" text)
  language plpgsql stable set search_path = ''
as $$
declare
  query text := concat_ws(' ', 'list_leads', owner_id);
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return query
  with page as materialized (
    select
      leads.*, row_number() over (order by leads.created_at desc, leads.id desc) as row_number
    from public.leads
    where leads.owner_identity_id = leads_of.owner_id
      and (leads.created_at, leads.id) < (before_at, before_id)
    order by leads.created_at desc, leads.id desc
    limit size + 1
  )
  select
    coalesce(
      json_agg(json_build_object(
        'id', page.id,
        'kind', page.kind,
        'createdAt', page.created_at,
        'property', json_build_object(
          'id', properties.id,
          'refNo', 'KW-' || properties.ref_no,
          'titleAr', properties.title_ar,
          'status', properties.status),
        'from', private.lead_sender(page.identity_id)
      ) order by page.row_number) filter (where page.row_number <= size),
      '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.created_at, page.id) order by page.row_number)
        filter (where page.row_number >= size))
  from page
  join public.properties on properties.id = page.property_id;
end
$$;

create function private.list_leads(page_cursor text default null, page_size integer default 20)
  returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return query select * from private.leads_of(
    private.require_identity(), page_cursor, private.page_size(page_size));
end
$$;
comment on function private.list_leads is
  'Api: Lists the leads of the acting identity, which are requests for contact, newest first.';

create function private.list_organisation_leads(
  type text, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return query select * from private.leads_of(
    private.require_identity_type(list_organisation_leads.type), page_cursor,
    private.page_size(page_size));
end
$$;
comment on function private.list_organisation_leads is
  'Api: Lists the leads of the acting company or office (type), which are requests for contact, '
  'newest first.';

create function private.get_organisation_stats(type text) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity_type(get_organisation_stats.type);
begin
  return (
    select json_build_object(
      'activeListings', organisations.active_listings_count,
      'listings', own.by_status,
      'views', own.views,
      'favorites', own.favorites,
      'leads', recent.leads,
      'last30Days', days.totals,
      'ratingAvg', organisations.rating_avg,
      'ratingCount', organisations.rating_count,
      'medianResponseMinutes', organisations.median_response_minutes)
    from public.organisations
    cross join lateral (
      select
        coalesce(json_object_agg(counted.status, counted.listings), '{}') as by_status,
        coalesce(sum(counted.views), 0)::bigint as views,
        coalesce(sum(counted.favorites), 0)::bigint as favorites
      from (
        select
          properties.status, count(*) as listings, sum(counters.views) as views,
          sum(counters.favorites) as favorites
        from public.properties
        left join private.property_counters as counters on counters.property_id = properties.id
        where properties.owner_identity_id = owner_id and properties.status <> 'deleted'
        group by properties.status
      ) as counted
    ) as own
    cross join lateral (
      select json_build_object(
        'last7Days', count(*) filter (where leads.created_at > now() - interval '7 days'),
        'last30Days', count(*),
        'call', count(*) filter (where leads.kind = 'call'),
        'whatsapp', count(*) filter (where leads.kind = 'whatsapp'),
        'chat', count(*) filter (where leads.kind = 'chat')) as leads
      from public.leads
      where leads.owner_identity_id = owner_id
        and leads.created_at > now() - interval '30 days'
    ) as recent
    cross join lateral (
      select json_build_object(
        'views', sum(figures.views), 'shown', 0, 'favorites', sum(figures.favorites),
        'contacts', sum(figures.contacts)) as totals
      from private.figures_by_day(array(
        select properties.id from public.properties
        where properties.owner_identity_id = owner_id and properties.status <> 'deleted'
      ), 30) as figures
    ) as days
    where organisations.identity_id = owner_id
  );
end
$$;
comment on function private.get_organisation_stats is
  'Api: Returns the numbers of listings, views, favorites and leads, and the rating, of the acting '
  'company or office (type).';

grant execute on function private.get_organisation to anon, authenticated;
grant execute on function
  private.list_organisation_listings, private.list_leads, private.list_organisation_leads,
  private.get_organisation_stats
  to authenticated;
