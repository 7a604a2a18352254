create function private.providers_of(account_id uuid) returns text[]
  language plpgsql stable
  security definer -- reads auth.identities
  set search_path = ''
as $$
begin
  return array(
    select distinct linked.provider from auth.identities as linked
    where linked.user_id = providers_of.account_id and linked.provider not in ('email', 'phone')
    order by linked.provider
  );
end
$$;

create function private.get_me() returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  account constant uuid := private.require_account();
begin
  return (
    select json_build_object(
      'user', json_build_object(
        'id', accounts.id,
        'email', accounts.email,
        'emailProven', accounts.email_proven,
        'phone', accounts.phone,
        'fullName', individual_profiles.full_name,
        'avatarUrl', individual_profiles.avatar_url,
        'language', accounts.language,
        'termsVersion', accounts.terms_version,
        'providers', private.providers_of(accounts.id),
        'createdAt', accounts.created_at
      ),
      'activeIdentity', own.records -> accounts.active_identity_id::text,
      'identities', own.list,
      'realtimeTopic', accounts.topic
    )
    from public.accounts
    left join public.individual_profiles on individual_profiles.account_id = accounts.id
    cross join lateral (
      select
        json_object_agg(identities.id, made.record) as records,
        json_agg(made.record order by identities.created_at, identities.id) as list
      from public.identities
      cross join lateral (
        select private.identity_json(identities)::jsonb || jsonb_build_object(
          'unread', case identities.status when 'active'
            then private.count_unread_messages(identities.id) else 0 end) as record
        offset 0 -- keeps the planner from counting unread messages twice per identity
      ) as made
      where identities.account_id = accounts.id
    ) as own
    where accounts.id = account
  );
end
$$;
comment on function private.get_me is 'Facade: the caller''s account; see api.get_me.';

create function api.get_me()
  returns table (
    "user" json, "activeIdentity" json, identities json, "realtimeTopic" text
  )
  language plpgsql stable set search_path = ''
as $$
begin
  return query
  select
    me.record -> 'user', me.record -> 'activeIdentity', me.record -> 'identities',
    me.record ->> 'realtimeTopic'
  from (select private.get_me()) as me (record);
end
$$;
comment on function api.get_me is
  'Returns the caller''s user, acting identity (null if there is none), identities and Realtime '
  'topic. unread is the unreadTotal of an identity''s conversations, or 0 while the identity may '
  'not act.';

create function api.check_session() returns uuid
  language plpgsql stable set search_path = ''
as $$
begin
  return private.require_account();
end
$$;
comment on function api.check_session is
  'Returns the caller''s account, or raises the error of require_account. The facade calls it '
  'before it calls Auth.';

create function private.list_sessions() returns table (items json, "nextCursor" text)
  language plpgsql stable
  security definer -- calls session_records, which clients may not execute
  set search_path = ''
as $$
begin
  return query select private.session_records(private.require_account(), true), null::text;
end
$$;
comment on function private.list_sessions is
  'Api: The sessions of the caller, most recently used first.';

create function api.list_identities() returns table (items json, "nextCursor" text)
  language sql stable set search_path = ''
as $$
  select
    json_agg(private.identity_record(identities) order by identities.created_at, identities.id),
    null::text
  from public.identities
  where identities.account_id = (select private.require_account())
$$;
comment on function api.list_identities is 'All identities of the caller, in any state.';

create function api.get_identity(identity_id uuid) returns json
  language plpgsql stable set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
  found_one public.identities;
begin
  select * into found_one from public.identities
  where identities.account_id = caller_id and identities.id = get_identity.identity_id;
  if found_one.id is null then
    perform private.refuse(404, 'identity_not_found');
  end if;
  return private.identity_record(found_one);
end
$$;
comment on function api.get_identity is 'An identity of the caller. 404 identity_not_found.';

create function private.get_settings() returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return private.settings_record(private.require_account());
end
$$;
comment on function private.get_settings is
  'Api: The caller''s language, notifications by category and channel, quiet hours, privacy, '
  'consent.';

grant execute on function private.get_me, private.list_sessions, private.get_settings to authenticated;
grant execute on function api.get_me, api.check_session, api.list_identities, api.get_identity
  to authenticated;
