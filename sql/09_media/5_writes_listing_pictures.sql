-- The pictures of a listing: their order, and taking one out.
--
-- Under review the pictures of an active listing stay as they are until an admin decides: the order
-- that its owner wants waits in pending_changes as `media`, new ones wait in their rows.

create function private.shown_pictures(property_id uuid) returns uuid[]
  language plpgsql
  stable
  security definer -- reads rows past the policies
  set search_path = ''
as $$
begin
  return array(
    select media.id from public.media
    where media.property_id = shown_pictures.property_id and not media.waits
    order by media.position
  );
end
$$;
comment on function private.shown_pictures is 'The pictures that everybody sees, in order.';

create function private.wanted_pictures(property public.properties) returns uuid[]
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  if property.pending_changes ? 'media' then
    return array(select jsonb_array_elements_text(property.pending_changes -> 'media'))::uuid[];
  end if;
  return private.shown_pictures(property.id);
end
$$;
comment on function private.wanted_pictures is
  'The pictures as the owner wants them: what waits for review, else what is shown.';

create function private.discard_media(media_ids uuid[]) returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
begin
  update public.media
  set discarded_at = now(), use = null, property_id = null, upload_session_id = null,
      position = null, waits = false
  where media.id = any (media_ids) and media.discarded_at is null;
end
$$;
comment on function private.discard_media is 'Pictures that nobody wants: a job removes them.';

create function private.show_pictures(property_id uuid, wanted uuid[]) returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
begin
  perform private.discard_media(array(
    select media.id from public.media
    where media.property_id = show_pictures.property_id and media.id <> all (wanted)
  ));
  update public.media set position = listed.place - 1, waits = false
  from unnest(wanted) with ordinality as listed (id, place)
  where media.id = listed.id and media.property_id = show_pictures.property_id
    and (media.position, media.waits) is distinct from (listed.place::integer - 1, false);
end
$$;
comment on function private.show_pictures is 'From now on these are the pictures, in this order.';

create function private.set_pictures(property public.properties, wanted uuid[]) returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
declare
  waiting jsonb := coalesce(property.pending_changes, '{}') - 'media';
begin
  if not private.is_reviewed(property) then
    perform private.show_pictures(property.id, wanted);
  else
    if wanted <> private.shown_pictures(property.id) then
      waiting := waiting || jsonb_build_object('media', to_jsonb(wanted));
    end if;
    perform private.discard_media(array(
      select media.id from public.media
      where media.property_id = property.id and media.waits and media.id <> all (wanted)
    ));
  end if;
  update public.properties set pending_changes = nullif(waiting, '{}')
  where properties.id = property.id
    and properties.pending_changes is distinct from nullif(waiting, '{}');
end
$$;
comment on function private.set_pictures is
  'What the owner wants: shown at once, or under review kept until an admin decides.';

create function private.settle_pictures(property public.properties, approved boolean) returns void
  language plpgsql
  security definer -- writes pictures of whoever owns the listing
  set search_path = ''
as $$
begin
  if property.pending_changes ? 'media' then
    perform private.show_pictures(property.id, case when approved
      then private.wanted_pictures(property) else private.shown_pictures(property.id) end);
  end if;
end
$$;
comment on function private.settle_pictures is 'Pictures that waited are shown, or discarded.';

create function private.order_property_media(property_id uuid, media_ids uuid[]) returns json
  language plpgsql
  security definer -- clients have no write grant; works on own listings only
  set search_path = ''
as $$
declare
  property public.properties := private.editable_property(property_id);
  had uuid[] := private.wanted_pictures(property);
begin
  if not media_ids <@ had then
    perform private.refuse(404, 'not_found');
  elsif cardinality(media_ids) <> cardinality(had) or not had <@ media_ids then
    perform private.refuse_fields('[{"path":"mediaIds","code":"invalid"}]');
  end if;
  perform private.set_pictures(property, media_ids);
  return private.property_record(property.id, property.owner_identity_id);
end
$$;
comment on function private.order_property_media is
  'Puts the pictures of an own listing in an order; all of them must be named once.';

create function private.delete_property_media(property_id uuid, media_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant; works on own listings only
  set search_path = ''
as $$
declare
  property public.properties := private.editable_property(property_id);
  had uuid[] := private.wanted_pictures(property);
begin
  if media_id <> all (had) then
    perform private.refuse(404, 'not_found');
  end if;
  perform private.set_pictures(property, array_remove(had, media_id));
end
$$;
comment on function private.delete_property_media is 'Takes a picture out of an own listing.';

create function private.take_session(property_id uuid, identity_id uuid, upload_session_id uuid)
  returns void
  language plpgsql
  security definer -- clients have no write grant
  set search_path = ''
as $$
begin
  update private.upload_sessions set property_id = take_session.property_id
  where upload_sessions.identity_id = take_session.identity_id
    and upload_sessions.id = take_session.upload_session_id
    and upload_sessions.property_id is null;
  if not found then
    perform private.refuse(404, 'not_found',
      '{"fields":[{"path":"uploadSessionId","code":"invalid"}]}');
  end if;
  update public.media set property_id = take_session.property_id, use = 'listing'
  where media.identity_id = take_session.identity_id
    and media.upload_session_id = take_session.upload_session_id
    and media.use is null and media.discarded_at is null;
end
$$;
comment on function private.take_session is
  'The pictures of a flow become the listing''s, in their order. 404 not_found for a flow that '
  'is unknown, another''s, or has its listing.';

create function api.order_property_media(property_id uuid, media_ids uuid[]) returns json
  language sql
  set search_path = ''
as $$
  select private.order_property_media(property_id, media_ids)
$$;
comment on function api.order_property_media is
  'Puts the pictures of an own listing in an order. 404 not_found for a picture that is not its.';

create function api.delete_property_media(property_id uuid, media_id uuid) returns void
  language sql
  set search_path = ''
as $$
  select private.delete_property_media(property_id, media_id)
$$;
comment on function api.delete_property_media is 'Takes a picture out of an own listing.';

grant execute on function
  private.order_property_media, private.delete_property_media, api.order_property_media,
  api.delete_property_media
  to authenticated;
