-- If listings are reviewed, new pictures and a new order of the pictures of a published listing need the
-- approval of an admin. Until then, new pictures have pending set, and the new order is in
-- pending_changes as `media`. Removals take effect at once.

create function private.shown_pictures(property_id uuid) returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  return array(
    select media.id from public.media
    where media.property_id = shown_pictures.property_id and not media.pending
    order by media.position
  );
end
$$;

create function private.owner_pictures(property public.properties) returns uuid[]
  language plpgsql stable set search_path = ''
as $$
begin
  if property.pending_changes ? 'media' then
    return array(select jsonb_array_elements_text(property.pending_changes -> 'media'))::uuid[];
  end if;
  return private.shown_pictures(property.id);
end
$$;
comment on function private.owner_pictures is
  'Returns the pictures as the owner sees them: with changes that wait for approval, if there are '
  'any.';

create function private.discard_media(media_ids uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  update public.media
  set discarded_at = now(), use = null, property_id = null, upload_session_id = null,
      position = null, pending = false
  where media.id = any (media_ids) and media.discarded_at is null;
end
$$;

create function private.set_shown_pictures(property_id uuid, picture_ids uuid[]) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.discard_media(array(
    select media.id from public.media
    where media.property_id = set_shown_pictures.property_id and media.id <> all (picture_ids)
  ));
  update public.media set position = listed.ordinal - 1, pending = false
  from unnest(picture_ids) with ordinality as listed (id, ordinal)
  where media.id = listed.id and media.property_id = set_shown_pictures.property_id
    and (media.position, media.pending) is distinct from (listed.ordinal::integer - 1, false);
end
$$;

create function private.change_pictures(property public.properties, picture_ids uuid[]) returns void
  language plpgsql set search_path = ''
as $$
declare
  pending jsonb := coalesce(property.pending_changes, '{}') - 'media';
begin
  if not private.is_moderated(property) then
    perform private.set_shown_pictures(property.id, picture_ids);
  else
    perform private.discard_media(array(
      select media.id from public.media
      where media.property_id = property.id and media.id <> all (picture_ids)
    ));
    if picture_ids = private.shown_pictures(property.id) then
      perform private.set_shown_pictures(property.id, picture_ids);
    else
      pending := pending || jsonb_build_object('media', to_jsonb(picture_ids));
    end if;
  end if;
  update public.properties
  set pending_changes = nullif(pending, '{}'), pictures_version = properties.pictures_version + 1
  where properties.id = property.id
    and properties.pending_changes is distinct from nullif(pending, '{}');
end
$$;
comment on function private.change_pictures is
  'Changes the pictures of a listing. If the listing is moderated, only removals take effect at '
  'once; everything else waits for approval.';

create function private.decide_pictures(property public.properties, approved boolean) returns void
  language plpgsql
  security definer -- writes pictures of someone else's listing
  set search_path = ''
as $$
begin
  if property.pending_changes ? 'media' then
    perform private.set_shown_pictures(property.id, case when approved
      then private.owner_pictures(property) else private.shown_pictures(property.id) end);
  end if;
end
$$;

create function private.order_property_media(property_id uuid, media_ids uuid[]) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  property public.properties := private.lock_editable_property(property_id);
  existing uuid[] := private.owner_pictures(property);
begin
  if not media_ids <@ existing then
    perform private.refuse(404, 'not_found');
  elsif cardinality(media_ids) <> cardinality(existing) or not existing <@ media_ids then
    perform private.refuse_field('mediaIds', 'invalid');
  end if;
  perform private.change_pictures(property, media_ids);
  return private.property_record(property.id, property.owner_identity_id);
end
$$;

create function private.delete_property_media(property_id uuid, media_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  property public.properties := private.lock_editable_property(property_id);
  existing uuid[] := private.owner_pictures(property);
begin
  if media_id <> all (existing) then
    perform private.refuse(404, 'not_found');
  end if;
  perform private.change_pictures(property, array_remove(existing, media_id));
end
$$;

create function private.attach_upload_session(
  property_id uuid, identity_id uuid, upload_session_id uuid
) returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.upload_sessions set property_id = attach_upload_session.property_id
  where upload_sessions.identity_id = attach_upload_session.identity_id
    and upload_sessions.id = attach_upload_session.upload_session_id
    and upload_sessions.property_id is null
    and not upload_sessions.ended and upload_sessions.expires_at > now();
  if not found then
    perform private.refuse_field('uploadSessionId', 'invalid');
  end if;
  update public.media set property_id = attach_upload_session.property_id, use = 'listing'
  where media.identity_id = attach_upload_session.identity_id
    and media.upload_session_id = attach_upload_session.upload_session_id
    and media.use is null and media.discarded_at is null;
end
$$;

create function api.order_property_media(property_id uuid, media_ids uuid[]) returns json
  language sql set search_path = ''
as $$
  select private.count_action('listing_edits');
  select private.order_property_media(property_id, media_ids);
$$;
comment on function api.order_property_media is
  'Reorders the pictures of a listing of the caller. 404 property_not_found, not_found for a '
  'picture that does not belong to the listing, 409 property_state_conflict.';

create function api.delete_property_media(property_id uuid, media_id uuid) returns void
  language sql set search_path = ''
as $$
  select private.count_action('listing_edits');
  select private.delete_property_media(property_id, media_id);
$$;
comment on function api.delete_property_media is
  'Deletes a picture of a listing of the caller. 404 property_not_found, not_found for a picture '
  'that does not belong to the listing, 409 property_state_conflict.';

grant execute on function
  private.order_property_media, private.delete_property_media, api.order_property_media,
  api.delete_property_media
  to authenticated;
