-- What a signed-in person reads and changes of the own account.

create function private.identity_json(identity public.identities) returns json
  language sql
  immutable
  set search_path = ''
as $$
  select case when identity.id is not null then json_build_object(
    'id', identity.id,
    'type', identity.type,
    'status', identity.status,
    'displayName', identity.display_name,
    'avatarUrl', identity.avatar_url
  ) end
$$;
comment on function private.identity_json is 'An identity as sessions show it.';

create function api.get_me()
  returns table (
    "user" json, "activeIdentity" json, identities json, "realtimeTopic" text
  )
  language sql
  stable
  set search_path = ''
as $$
  select
    json_build_object(
      'id', accounts.id,
      'email', accounts.email,
      'phone', accounts.phone,
      'fullName', individual_profiles.full_name,
      'avatarUrl', individual_profiles.avatar_url,
      'language', accounts.language,
      'createdAt', accounts.created_at
    ),
    (
      select private.identity_json(identities) from public.identities
      where identities.account_id = accounts.id
        and identities.id = accounts.active_identity_id and identities.status = 'active'
    ),
    (
      select json_agg(private.identity_json(identities) order by identities.created_at, identities.id)
      from public.identities where identities.account_id = accounts.id
    ),
    accounts.topic::text
  from public.accounts
  left join public.individual_profiles on individual_profiles.account_id = accounts.id
  where accounts.id = (select private.require_account())
$$;
comment on function api.get_me is
  'The caller''s user, acting identity (null when it was taken away), identities, Realtime topic.';

create function private.change_me(fields jsonb) returns void
  language plpgsql
  security definer -- clients have no write grant on accounts
  set search_path = ''
as $$
declare
  caller_id uuid := private.take_caller();
  new_name text := private.tidy(fields ->> 'fullName');
begin
  if jsonb_typeof(fields) is distinct from 'object'
    or fields - array['fullName', 'language', 'avatarMediaId'] <> '{}' then
    perform private.refuse_field('', 'invalid');
  end if;
  if fields ? 'fullName' then
    if jsonb_typeof(fields -> 'fullName') <> 'string' or private.is_name(new_name) is not true then
      perform private.refuse_field('fullName', 'invalid');
    end if;
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
comment on function private.change_me is
  'Changes name, language and picture of the calling account.';

create function api.update_me(fields jsonb)
  returns table (
    "user" json, "activeIdentity" json, identities json, "realtimeTopic" text
  )
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.change_me(update_me.fields);
  return query select * from api.get_me();
end
$$;
comment on function api.update_me is
  'Changes fullName, language and avatarMediaId; absent ones stay, a null picture goes.';

create function api.check_session() returns uuid
  language sql
  stable
  set search_path = ''
as $$
  select private.require_account()
$$;
comment on function api.check_session is
  'The calling account, or the refusal of a caller that may not act: before a call to Auth.';

create function private.decoy_email() returns text
  language sql
  immutable
  set search_path = ''
as $$
  select 'decoy@accounts.invalid'
$$;
comment on function private.decoy_email is
  'Of the account that unknown identifiers are tried against at sign-in, so that they take the same '
  'time (functions/_shared/supabase-auth.ts).';

create function private.account_with(identifier text) returns uuid
  language sql
  stable
  security definer -- for guests: reads accounts
  set search_path = ''
as $$
  select accounts.id from public.accounts
  where accounts.email = account_with.identifier or accounts.phone = account_with.identifier
$$;
comment on function private.account_with is
  'Whose email or phone it is: what became of a registration whose answer was lost.';

grant execute on function private.identity_json, private.change_me
  to authenticated;
grant execute on function private.account_with to backend;
grant execute on function api.get_me, api.update_me, api.check_session to authenticated;
