-- The accounts that admins look for. Indexes serve the search for words.

create function private.is_decoy(account public.accounts) returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select account.email is not distinct from private.decoy_email()
$$;
comment on function private.is_decoy is
  'Whether an account is the decoy, tried for unknown identifiers at sign-in: admins do not see '
  'it.';

create function private.find_users(q text) returns setof uuid
  language plpgsql
  stable
  rows 100
  security definer -- reads accounts of others; its caller requires an admin
  set search_path = ''
as $$
declare
  given constant text := private.ascii_digits(private.tidy(q));
  -- The search is no pattern: what LIKE would read as one is escaped.
  part constant text := '%' || replace(replace(replace(lower(given),
    '\', '\\'), '%', '\%'), '_', '\_') || '%';
  digits constant text := regexp_replace(
    regexp_replace(given, '[ -]', '', 'g'), '^(\+?965)?', '');
  name constant text := nullif(private.search_text(q), '');
  asked_id uuid;
begin
  if pg_input_is_valid(given, 'uuid') then
    asked_id := given;
  end if;
  return query
  (
    select accounts.id from public.accounts
    where accounts.email like part
    union all
    select accounts.id from public.accounts
    where digits ~ '^[0-9]{3,8}$' and accounts.phone like '%' || digits || '%'
    union all
    select identities.account_id from public.identities
    where private.search_text(identities.display_name) like '%' || name || '%'
    union all
    select identities.account_id from public.identities
    where asked_id in (identities.id, identities.account_id)
  )
  limit 2001;
end
$$;
comment on function private.find_users is
  'Accounts by a part of an email, phone or name, or by an id of the account or an identity. Stops '
  'after 2001: then too many match for this list to be of use.';

create function private.matches_user(account public.accounts, q text) returns boolean
  language plpgsql
  stable
  security definer -- reads identities of others; its caller requires an admin
  set search_path = ''
as $$
declare
  name constant text := nullif(private.search_text(q), '');
begin
  return strpos(account.email, lower(q)) > 0 or exists (
    select from public.identities
    where identities.account_id = account.id
      and strpos(private.search_text(identities.display_name), name) > 0
  );
end
$$;
comment on function private.matches_user is
  'Whether the email or a name contains this: for parts so common that checking one account after '
  'another soon fills a page.';

create function private.list_users(
  q text, status text, type text, identity_status text, is_admin boolean,
  since timestamptz, until timestamptz, sort text, page_cursor text, page_size integer
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads accounts of others, for an admin
  set search_path = ''
  set plan_cache_mode = 'force_custom_plan' -- a filter that is not given costs nothing
as $$
declare
  query text := concat_ws(' ', 'list_users', private.require_admin(), jsonb_build_array(
    q, status, type, identity_status, is_admin, since, until, sort));
  key jsonb := private.cursor_key(query, page_cursor);
  admin_ids constant uuid[] := array(select admins.account_id from public.admins);
  ids uuid[];
  named uuid[];
  holders uuid[]; -- those with such an identity, unless they are too many to count
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', 'invalid')), '[]')
    from (values
      ('q', char_length(private.tidy(q)) between 3 and 120),
      ('status', status in ('active', 'suspended', 'banned', 'deletion_requested', 'deleted')),
      ('type', type in ('individual', 'company', 'office')),
      ('identityStatus', identity_status in
        ('active', 'pending_verification', 'rejected', 'expired', 'suspended', 'closed')),
      ('sort', coalesce(sort in ('newest', 'oldest', 'name'), false))
    ) as rule (path, holds)
    where holds is false
  ));
  if q is not null then
    named := array(select private.find_users(q));
  end if;
  if coalesce(list_users.type, identity_status) is not null then
    holders := array(
      select identities.account_id from public.identities
      where (list_users.type is null or identities.type = list_users.type)
        and (identity_status is null or identities.status = identity_status)
      limit 2001
    );
  end if;
  ids := array(
    select accounts.id
    from public.accounts
    join public.individual_profiles on individual_profiles.account_id = accounts.id
    where (q is null
        or cardinality(named) <= 2000 and accounts.id = any (named)
        or cardinality(named) > 2000 and private.matches_user(accounts, private.tidy(q)))
      and (list_users.status is null or accounts.status = list_users.status)
      and (holders is null
        or cardinality(holders) <= 2000 and accounts.id = any (holders)
        or cardinality(holders) > 2000 and exists (
          select from public.identities
          where identities.account_id = accounts.id
            and (list_users.type is null or identities.type = list_users.type)
            and (identity_status is null or identities.status = identity_status)
        ))
      and (list_users.is_admin is null
        or list_users.is_admin and accounts.id = any (admin_ids)
        or not list_users.is_admin and accounts.id <> all (admin_ids))
      and (since is null or accounts.created_at >= since)
      and (until is null or accounts.created_at < until)
      and not private.is_decoy(accounts)
      -- One plan for each sort: what belongs to the others is constant.
      and case
        when key is null then true
        when sort = 'newest' then
          (accounts.created_at, accounts.id) < ((key ->> 0)::timestamptz, (key ->> 1)::uuid)
        when sort = 'oldest' then
          (accounts.created_at, accounts.id) > ((key ->> 0)::timestamptz, (key ->> 1)::uuid)
        else (coalesce(individual_profiles.full_name, ''), individual_profiles.account_id)
          > (key ->> 0, (key ->> 1)::uuid)
      end
    order by
      case when sort = 'newest' then accounts.created_at end desc,
      case when sort = 'newest' then accounts.id end desc,
      case when sort = 'oldest' then accounts.created_at end,
      case when sort = 'oldest' then accounts.id end,
      case when sort = 'name' then coalesce(individual_profiles.full_name, '') end,
      case when sort = 'name' then individual_profiles.account_id end
    limit private.page_size(page_size) + 1
  );
  return query
  select
    coalesce(json_agg(records.record order by records.place), '[]'),
    private.next_cursor(query, (
      select jsonb_agg(jsonb_build_array(
        case when sort = 'name' then to_jsonb(coalesce(individual_profiles.full_name, ''))
          else to_jsonb(accounts.created_at) end,
        accounts.id) order by last.place)
      from unnest(ids[page_size:]) with ordinality as last (id, place)
      join public.accounts on accounts.id = last.id
      join public.individual_profiles on individual_profiles.account_id = last.id
    ))
  from private.user_records(ids[:page_size]) as records;
end
$$;
comment on function private.list_users is 'A page of accounts; see api.list_users.';

create function api.list_users(
  q text default null, status text default null, type text default null,
  identity_status text default null, is_admin boolean default null,
  since timestamptz default null, until timestamptz default null, sort text default 'newest',
  page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select users.items, users."nextCursor"
  from private.list_users(q, status, type, identity_status, is_admin, since, until, sort,
    page_cursor, page_size) as users;
end
$$;
comment on function api.list_users is
  'For admins: accounts by a part of an email, phone or name, an id, a state, the type and state '
  'of an identity that they have, and when they came; newest or oldest first, or by name. 403 '
  'admin_only.';

create function private.get_user(user_id uuid) returns json
  language plpgsql
  stable
  security definer -- reads an account of another, for an admin
  set search_path = ''
as $$
declare
  admin_id uuid := private.require_admin();
  account public.accounts;
begin
  select * into account from public.accounts
  where accounts.id = get_user.user_id and not private.is_decoy(accounts);
  if account.id is null then
    perform private.refuse(404, 'user_not_found');
  end if;
  return (
    select json_build_object(
      'user', (select records.record from private.user_records(array[account.id]) as records),
      'identities', (
        select coalesce(
          json_agg(private.identity_record(identities)
            order by identities.created_at, identities.id),
          '[]')
        from public.identities where identities.account_id = account.id
      ),
      'sessions', (select count(*) from auth.sessions where sessions.user_id = account.id),
      'listings', (
        select coalesce(json_object_agg(counted.status, counted.number), '{}')
        from (
          select properties.status, count(*) as number
          from public.properties
          join public.identities on identities.id = properties.owner_identity_id
          where identities.account_id = account.id
          group by properties.status
        ) as counted
      ),
      'audit', (
        select coalesce(json_agg(entry.record order by entry.place), '[]')
        from private.audit_records(array(
          select audit.id from public.audit
          where audit.target_id = account.id
            or audit.target_id in (
              select identities.id from public.identities where identities.account_id = account.id
            )
          order by audit.id desc
          limit 20
        )) as entry
      )
    )
  );
end
$$;
comment on function private.get_user is 'An account; see api.get_user.';

create function api.get_user(user_id uuid) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_user(user_id);
end
$$;
comment on function api.get_user is
  'For admins: an account with its identities, how many sessions and listings, and the last 20 '
  'entries of the audit trail about it. 403 admin_only, 404 user_not_found.';

grant execute on function private.list_users, private.get_user to authenticated;
grant execute on function api.list_users, api.get_user to authenticated;
