create function private.media_url(bucket text, name text) returns text
  language plpgsql stable
  security definer -- reads a setting
  set search_path = ''
as $$
begin
  return (
    select settings.value #>> '{}' from private.settings where settings.name = 'files_url'
  ) || '/' || bucket || '/' || name;
end
$$;

create function private.home_bucket(picture public.media) returns text
  language plpgsql stable
  security definer -- reads the pages of other people
  set search_path = ''
as $$
begin
  return case when picture.use = 'listing' or exists (
      -- A page may use a picture that was uploaded for listings.
      select from public.identities
      left join public.organisations on organisations.identity_id = identities.id
      where identities.id = picture.identity_id
        and position('/listings/' || picture.name in concat_ws(' ',
          identities.avatar_url, organisations.logo_url, organisations.cover_url)) > 0
    ) then 'listings' else 'avatars' end;
end
$$;
comment on function private.home_bucket is
  'Returns the bucket in the URL of the picture of a listing, person or page. Its file may be in '
  'another bucket at the moment.';

create function private.set_files_url(url text) returns void
  language plpgsql
  security definer -- writes a setting, and URLs in rows of all accounts
  set search_path = ''
as $$
declare
  before text := private.setting('files_url') #>> '{}';
begin
  if before = url then
    return;
  end if;
  update private.settings set value = to_jsonb(url) where settings.name = 'files_url';
  -- The URL changes when the project gets a new domain or the local stack a different port.
  if before <> '' then
    update public.individual_profiles
    set avatar_url = url || substr(individual_profiles.avatar_url, char_length(before) + 1)
    where starts_with(individual_profiles.avatar_url, before || '/');
    update public.identities
    set avatar_url = url || substr(identities.avatar_url, char_length(before) + 1)
    where starts_with(identities.avatar_url, before || '/');
    update public.organisations
    set logo_url = case when starts_with(organisations.logo_url, before || '/')
          then url || substr(organisations.logo_url, char_length(before) + 1)
          else organisations.logo_url end,
        cover_url = case when starts_with(organisations.cover_url, before || '/')
          then url || substr(organisations.cover_url, char_length(before) + 1)
          else organisations.cover_url end
    where starts_with(organisations.logo_url, before || '/')
      or starts_with(organisations.cover_url, before || '/');
  end if;
end
$$;
comment on function private.set_files_url is
  'Stores the base URL of public files, which the edge functions pass, and updates the URLs in '
  'stored rows.';

create function private.set_share_url(template text) returns void
  language sql
  security definer -- writes a setting
  set search_path = ''
as $$
  update private.settings set value = coalesce(to_jsonb(template), 'null')
  where settings.name = 'share_url'
    and settings.value is distinct from coalesce(to_jsonb(template), 'null')
$$;
comment on function private.set_share_url is
  'Stores the template of the public URLs of listings, which contains {refNo}. Null: no public '
  'URLs.';

grant execute on function private.set_files_url, private.set_share_url to backend;
