create function private.require_advertiser(identity_id uuid) returns public.identities
  language plpgsql stable
  security definer -- reads other people's identities
  set search_path = ''
as $$
declare
  identity public.identities;
begin
  select * into identity from public.identities
  where identities.id = require_advertiser.identity_id
    and private.is_publicly_visible(identities.id)
    and (identities.type <> 'individual' or exists (
      select from public.properties
      where properties.owner_identity_id = identities.id and properties.listed
    ));
  if identity.id is null then
    perform private.refuse(404, 'identity_not_found');
  end if;
  return identity;
end
$$;
comment on function private.require_advertiser is
  'Returns the identity. 404 identity_not_found unless it may act and is a verified organisation '
  'or a person with a listed property.';

create function private.get_advertiser(identity_id uuid) returns text
  language plpgsql stable security definer set search_path = ''
as $$
declare
  identity constant public.identities := private.require_advertiser(identity_id);
  ratings constant json := private.review_summary(identity.id);
  page public.organisations;
begin
  select * into page from public.organisations where organisations.identity_id = identity.id;
  return json_build_object(
    'identityId', identity.id,
    'type', identity.type,
    'displayName', identity.display_name,
    'avatarUrl', identity.avatar_url,
    'verified', coalesce(page.verified, false),
    'memberSince', to_char(identity.created_at at time zone 'Asia/Kuwait', 'YYYY-MM'),
    'ratingAvg', ratings -> 'average',
    'ratingCount', ratings -> 'count',
    'activeListingsCount', coalesce(page.active_listings_count, (
      select count(*) from public.properties
      where properties.owner_identity_id = identity.id and properties.listed
    )),
    -- A job computes this for companies and offices. For a person it is computed here from up to 20
    -- conversations.
    'medianResponseMinutes', case when page.identity_id is null
      then private.response_minutes(identity.id, 20) else page.median_response_minutes end
  );
end
$$;
comment on function private.get_advertiser is
  'Facade: returns the public profile of an advertiser as JSON text.';

create function private.list_advertiser_listings(
  identity_id uuid, fields text default 'card', page_cursor text default null,
  page_size integer default 20
) returns text
  language plpgsql stable security definer set search_path = ''
as $$
declare
  identity constant public.identities := private.require_advertiser(identity_id);
  query constant text := 'list_advertiser_listings ' || identity.id;
  take constant integer := private.page_size(page_size);
  key constant jsonb := private.cursor_key(query, page_cursor);
  before_at constant timestamptz := coalesce(key ->> 0, 'infinity');
  before_id constant uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  ids uuid[];
  times timestamptz[];
begin
  select array_agg(found.id), array_agg(found.published_at) into ids, times
  from (
    select properties.id, properties.published_at from public.properties
    where properties.owner_identity_id = identity.id and properties.listed
      and (properties.published_at, properties.id) < (before_at, before_id)
    order by properties.published_at desc, properties.id desc
    limit take + 1
  ) as found;
  return '{"items":' || private.list_items(coalesce(ids[:take], '{}'), private.identity_id(), fields)
    || ',"nextCursor":' || case when cardinality(ids) > take
      then to_json(private.cursor_of(query, jsonb_build_array(times[take], ids[take])))::text
      else 'null' end || '}';
end
$$;
comment on function private.list_advertiser_listings is
  'Facade: returns the listed properties of an advertiser, newest first, as JSON text.';

grant execute on function private.get_advertiser, private.list_advertiser_listings
  to anon, authenticated;
