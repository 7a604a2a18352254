create function private.update_me(fields jsonb) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller_exclusively();
  new_name text := private.visible_line(fields ->> 'fullName', 120, 'fullName');
begin
  fields := private.given_fields(fields, '{avatarMediaId}');
  if jsonb_typeof(fields) is distinct from 'object'
    or fields - array['fullName', 'language', 'avatarMediaId'] <> '{}' then
    perform private.refuse_field('', 'invalid');
  end if;
  if fields ? 'fullName' then
    if jsonb_typeof(fields -> 'fullName') <> 'string' then
      perform private.refuse_field('fullName', 'invalid');
    end if;
    perform private.check_new_name('fullName', coalesce(new_name, ''), (
      select individual_profiles.full_name from public.individual_profiles
      where individual_profiles.account_id = caller_id
    ), true);
    update public.individual_profiles set full_name = new_name
    where individual_profiles.account_id = caller_id;
    update public.identities set display_name = new_name
    where identities.account_id = caller_id and identities.type = 'individual';
  end if;
  if fields ? 'language' then
    if (fields ->> 'language' in ('ar', 'en')) is not true then
      perform private.refuse_field('language', 'invalid');
    end if;
    update public.accounts set language = fields ->> 'language'
    where accounts.id = caller_id;
  end if;
  if fields ? 'avatarMediaId' then
    perform private.change_avatar(caller_id, fields -> 'avatarMediaId');
  end if;
end
$$;

create function api.update_me(fields jsonb)
  returns table (
    "user" json, "activeIdentity" json, identities json, "realtimeTopic" text
  )
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('profile');
  perform private.update_me(update_me.fields);
  return query select * from api.get_me();
end
$$;
comment on function api.update_me is
  'Changes fullName, language and avatarMediaId. Absent fields are kept, and null removes the '
  'picture. 404 not_found for somebody else''s picture.';

create function private.update_settings(fields jsonb) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller_exclusively();
  problems jsonb;
begin
  if jsonb_typeof(fields) is distinct from 'object' then
    perform private.refuse_field('', 'invalid');
  end if;
  -- Null clears the quiet hours; for other settings it counts as absent.
  fields := jsonb_strip_nulls(fields) || case fields -> 'quietHours' when 'null'
    then '{"quietHours":null}' else '{}' end::jsonb;
  select jsonb_agg(to_jsonb(wrong)) into problems from private.setting_problems(fields) as wrong;
  if problems is not null then
    perform private.refuse_fields(problems);
  end if;

  if fields ? 'language' then
    update public.accounts set language = fields ->> 'language'
    where accounts.id = caller_id and accounts.language <> fields ->> 'language';
  end if;
  insert into public.account_settings (account_id) values (caller_id) on conflict do nothing;
  update public.account_settings
  set notifications = private.merged_choices(notifications, fields -> 'notifications'),
      quiet_from = case when fields ? 'quietHours'
        then (fields #>> '{quietHours,from}')::time else quiet_from end,
      quiet_to = case when fields ? 'quietHours'
        then (fields #>> '{quietHours,to}')::time else quiet_to end,
      show_phone = coalesce((fields #>> '{privacy,showPhone}')::boolean, show_phone),
      read_receipts = coalesce((fields #>> '{privacy,readReceipts}')::boolean, read_receipts),
      show_last_seen = coalesce((fields #>> '{privacy,showLastSeen}')::boolean, show_last_seen),
      who_may_write = coalesce(fields #>> '{privacy,whoMayWrite}', who_may_write),
      marketing_consent = coalesce((fields ->> 'marketingConsent')::boolean, marketing_consent),
      updated_at = now()
  where account_settings.account_id = caller_id;
  return private.settings_record(caller_id);
end
$$;

create function api.update_settings(fields jsonb) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('profile');
  return private.update_settings(fields);
end
$$;
comment on function api.update_settings is 'Changes the given settings only. 422 for unknown keys.';

grant execute on function private.update_me, private.update_settings to authenticated;
create function private.accept_terms(version text) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid;
  outdated jsonb;
begin
  perform private.count_action('profile');
  caller_id := private.lock_caller_exclusively();
  outdated := private.outdated_terms(private.bounded(version, 40, 'version'));
  if outdated is not null then
    perform private.refuse(409, 'terms_outdated', outdated);
  end if;
  update public.accounts
  set terms_version = accept_terms.version, terms_accepted_at = clock_timestamp()
  where accounts.id = caller_id and accounts.terms_version is distinct from accept_terms.version;
end
$$;
comment on function private.accept_terms is
  'Api: Accepts the current terms; can be repeated. 409 terms_outdated for another version.';

grant execute on function api.update_me, api.update_settings to authenticated;
grant execute on function private.accept_terms to authenticated;
