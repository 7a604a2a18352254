create function private.use_picture(media_id uuid, identity_id uuid, use text) returns text
  language plpgsql set search_path = ''
as $$
declare
  picture public.media;
begin
  select media.* into picture from public.media
  join public.identities
    on identities.id = use_picture.identity_id and identities.account_id = media.account_id
  where media.id = use_picture.media_id
    and media.discarded_at is null
    -- Any identity of the account may have uploaded an avatar. Other pictures must have been uploaded by
    -- the identity that uses them.
    and (media.identity_id = use_picture.identity_id or use_picture.use = 'avatar')
    and (
      media.use is null
      or media.use = use_picture.use and media.identity_id = use_picture.identity_id
    )
  for no key update of media;
  if picture.id is null or use_picture.use not in ('avatar', 'logo', 'cover', 'message') then
    perform private.refuse(404, 'not_found');
  end if;
  if picture.use = 'message' then
    -- Each message needs its own file. The facade copies this file and calls again.
    perform private.refuse(422, 'validation_failed', jsonb_build_object(
      'fields', '[{"path": "mediaId", "code": "not_allowed"}]'::jsonb, 'copy', picture.name));
  end if;
  if picture.use is null then
    if use_picture.use <> 'message' then
      perform private.discard_picture_of(use_picture.identity_id, use_picture.use);
    end if;
    update public.media
    set use = use_picture.use, identity_id = use_picture.identity_id, upload_session_id = null,
        position = null
    where media.id = picture.id;
  end if;
  return private.media_url(
    case picture.bucket when 'suspended' then private.home_bucket(picture) else picture.bucket end,
    picture.name);
end
$$;
comment on function private.use_picture is
  'Marks a picture as used and returns its URL. Discards the avatar, logo or cover that it '
  'replaces. 422 if a message already uses the picture.';

create function private.discard_picture_of(identity_id uuid, use text) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.discard_media(array(
    select media.id from public.media
    where media.identity_id = discard_picture_of.identity_id and media.use = discard_picture_of.use
  ));
end
$$;

create function private.change_avatar(account_id uuid, given jsonb) returns void
  language plpgsql set search_path = ''
as $$
declare
  person_id uuid := (
    select identities.id from public.identities
    where identities.account_id = change_avatar.account_id and identities.type = 'individual'
  );
  url text;
begin
  if given = 'null' then
    perform private.discard_picture_of(person_id, 'avatar');
  elsif jsonb_typeof(given) <> 'string'
    or not pg_input_is_valid(given #>> '{}', 'uuid') then
    perform private.refuse_field('avatarMediaId', 'invalid');
  else
    url := private.use_picture((given #>> '{}')::uuid, person_id, 'avatar');
  end if;
  update public.individual_profiles set avatar_url = url
  where individual_profiles.account_id = change_avatar.account_id;
  update public.identities set avatar_url = url where identities.id = person_id;
end
$$;

create function private.set_picture(identity_id uuid, use text, given jsonb) returns text
  language plpgsql set search_path = ''
as $$
begin
  if given = 'null' then
    perform private.discard_picture_of(set_picture.identity_id, set_picture.use);
    return null;
  end if;
  return private.use_picture((given #>> '{}')::uuid, set_picture.identity_id, set_picture.use);
end
$$;

create function private.with_pictures(organisation public.organisations, fields jsonb)
  returns public.organisations
  language plpgsql set search_path = ''
as $$
begin
  if fields ? 'logoMediaId' then
    organisation.logo_url := private.set_picture(
      organisation.identity_id, 'logo', fields -> 'logoMediaId');
  end if;
  if fields ? 'coverMediaId' then
    organisation.cover_url := private.set_picture(
      organisation.identity_id, 'cover', fields -> 'coverMediaId');
  end if;
  return organisation;
end
$$;
