create function private.is_decoy(account public.accounts) returns boolean
  language sql immutable set search_path = ''
as $$
  select account.email is not distinct from private.decoy_email()
$$;
comment on function private.is_decoy is
  'Whether an account is the decoy that stands in for unknown identifiers at sign-in. Admins do '
  'not see it.';

create function private.phone_part(q text) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  return substring(private.bare_phone(q) from '^(?:\+?965)?([0-9]{3,8})$');
end
$$;
comment on function private.phone_part is
  'Returns the 3 to 8 digits of a text that looks like a phone number or a part of one, without '
  '965; otherwise null.';

create function private.find_users(q text) returns setof uuid
  language plpgsql stable
  rows 100
  security definer -- reads other people's accounts; its caller calls require_admin
  set search_path = ''
as $$
declare
  given constant text := private.typed(q, 120, 'q');
  part constant text := '%' || replace(replace(replace(lower(given),
    '\', '\\'), '%', '\%'), '_', '\_') || '%';
  digits constant text := private.phone_part(given);
  name constant text := nullif(private.search_text(q), '');
  ref constant bigint := substring(upper(given) from '^KW[- ]?([0-9]{1,9})$');
  given_id uuid;
begin
  if pg_input_is_valid(given, 'uuid') then
    given_id := given;
  end if;
  return query
  (
    select accounts.id from public.accounts
    where accounts.email like part or accounts.email = private.typed_identifier(given)
    union all
    select accounts.id from public.accounts
    where accounts.phone like '%' || digits || '%'
    union all
    select identities.account_id from public.identities
    where private.search_text(identities.display_name) like '%' || name || '%'
    union all
    select identities.account_id from public.identities
    where given_id in (identities.id, identities.account_id)
    union all
    select identities.account_id from public.properties
    join public.identities on identities.id = properties.owner_identity_id
    where properties.ref_no = ref
    union all
    select invoices.account_id from public.invoices where invoices.number = upper(given)
  )
  limit 2001;
end
$$;
comment on function private.find_users is
  'Returns at most 2001 ids, because users_source uses a list of ids only if it is shorter.';

create function private.matches_user(account public.accounts, q text) returns boolean
  language plpgsql stable
  security definer -- reads other people's identities; its caller calls require_admin
  set search_path = ''
as $$
declare
  name constant text := nullif(private.search_text(q), '');
  digits constant text := private.phone_part(q);
begin
  return strpos(account.email, lower(q)) > 0 or strpos(account.phone, digits) > 0 or exists (
    select from public.identities
    where identities.account_id = account.id
      and strpos(private.search_text(identities.display_name), name) > 0
  );
end
$$;
comment on function private.matches_user is
  'Whether an account matches q. Used only if q has many matches: then checking the accounts in the '
  'order of the list soon finds enough for a page.';

create function private.account_ids(type text, identity_status text, row_limit integer)
  returns uuid[]
  language plpgsql stable
  security definer -- reads other people's identities; its caller calls require_admin
  set search_path = ''
  set plan_cache_mode = 'force_custom_plan' -- so that an absent filter costs nothing
as $$
begin
  return array(
    select identities.account_id from public.identities
    where (account_ids.type is null or identities.type = account_ids.type)
      and (account_ids.identity_status is null or identities.status = account_ids.identity_status)
    limit row_limit
  );
end
$$;
comment on function private.account_ids is
  'Returns at most row_limit ids of accounts that have such an identity, by an index-only scan.';

create function private.users_source(filters jsonb) returns text
  language plpgsql stable set search_path = ''
as $$
declare
  -- Few matches are selected by their ids. If there are many, a scan of the list soon fills a page.
  many constant integer := 2001;
  named constant uuid[] := case when filters ? 'q' then
    array(select private.find_users(filters ->> 'q')) end;
  holders constant uuid[] := case when filters ?| array['type', 'identity_status'] then
    private.account_ids(filters ->> 'type', filters ->> 'identity_status', many) end;
begin
  return $sql$
    from public.accounts
    join public.individual_profiles on individual_profiles.account_id = accounts.id
    where not private.is_decoy(accounts)
      and (not $1 ? 'status' or accounts.status = $1 ->> 'status')
      and (not $1 ? 'since' or accounts.created_at >= ($1 ->> 'since')::timestamptz)
      and (not $1 ? 'until' or accounts.created_at < ($1 ->> 'until')::timestamptz)
      and (not $1 ? 'signed_in_since' or individual_profiles.last_sign_in_at
        >= ($1 ->> 'signed_in_since')::timestamptz)
      and (not $1 ? 'signed_in_until' or individual_profiles.last_sign_in_at
        < ($1 ->> 'signed_in_until')::timestamptz)
    $sql$ || case filters ->> 'is_admin'
      when 'true' then ' and accounts.id in (select admins.account_id from public.admins)'
      when 'false' then ' and accounts.id not in (select admins.account_id from public.admins)'
      else ''
    end || case filters ->> 'to_be_deleted'
      when 'true' then ' and accounts.delete_at is not null'
      when 'false' then ' and accounts.delete_at is null'
      else ''
    end || case
      when cardinality(named) < many then format(' and accounts.id = any (%L)', named)
      when named is not null then
        format(' and private.matches_user(accounts, %L)', private.typed(filters ->> 'q', 120, 'q'))
      else ''
    end || case
      when cardinality(holders) < many then format(' and accounts.id = any (%L)', holders)
      when holders is not null then $sql$
        and exists (
          select from public.identities
          where identities.account_id = accounts.id
            and (not $1 ? 'type' or identities.type = $1 ->> 'type')
            and (not $1 ? 'identity_status' or identities.status = $1 ->> 'identity_status')
        )
        $sql$
      else ''
    end;
end
$$;

create function private.list_users(
  q text default null, status text default null, type text default null,
  identity_status text default null, is_admin boolean default null, to_be_deleted boolean default null,
  since timestamptz default null, until timestamptz default null,
  signed_in_since timestamptz default null, signed_in_until timestamptz default null,
  sort text default 'newest', page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  -- A missing email, phone or name sorts first, a missing suspended_until or delete_at sorts last.
  sorts constant jsonb := jsonb_build_object(
    'oldest', array['accounts.created_at', 'accounts.id'],
    'name', array['private.name_order(individual_profiles.full_name) collate "C"',
      'individual_profiles.account_id'],
    'email', array['coalesce(accounts.email, '''')', 'accounts.id'],
    'phone', array['coalesce(accounts.phone, '''')', 'accounts.id'],
    'lastSignInAt', array['individual_profiles.last_sign_in_at', 'individual_profiles.account_id'],
    'suspendedUntil', array['coalesce(accounts.suspended_until, ''infinity'')', 'accounts.id'],
    'deleteAt', array['coalesce(accounts.delete_at, ''infinity'')', 'accounts.id']);
  filters constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'q', case when private.is_query(private.bounded(q, 120, 'q')) then q end, 'status', status,
    'type', type, 'identity_status', identity_status,
    'is_admin', is_admin, 'to_be_deleted', to_be_deleted, 'since', since, 'until', until,
    'signed_in_since', signed_in_since, 'signed_in_until', signed_in_until));
  query text := concat_ws(' ', 'list_users', private.require_admin(), filters, sort);
  key jsonb := private.cursor_key(query, page_cursor);
  keys jsonb[];
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(jsonb_build_object('path', path, 'code', 'invalid')), '[]')
    from (values
      ('q', char_length(private.typed(q, 120, 'q')) between 3 and 120),
      ('status', status in ('active', 'suspended', 'banned', 'deleted')),
      ('type', type in ('individual', 'company', 'office')),
      ('identityStatus', identity_status in ('active', 'pending_verification', 'rejected', 'expired',
        'suspended', 'closing', 'closed')),
      ('sort', private.is_sort(sorts, sort))
    ) as rule (path, holds)
    where holds is false
  ));
  keys := private.sorted_keys(
    private.users_source(filters), sorts, sort, filters, key, page_size);
  return query
  select
    coalesce(json_agg(records.record order by records.ordinal), '[]'),
    private.next_cursor(query, to_jsonb(keys[page_size:]))
  from private.user_records(private.key_ids(keys[:page_size])::uuid[]) as records;
end
$$;
comment on function private.list_users is
  'Api: For admins: accounts, filtered by a part of an email, phone or name, an id, the number of '
  'a listing or an invoice, a state, a requested deletion, the type and state of an identity, and '
  'the times of registration and last sign-in; newest or oldest first, or sorted by one of the '
  'returned values. 403 admin_only.';

create function private.count_sessions(account_id uuid) returns bigint
  language plpgsql stable
  security definer -- reads an Auth table
  set search_path = ''
as $$
begin
  return (select count(*) from auth.sessions where sessions.user_id = account_id);
end
$$;

create function private.get_user(user_id uuid) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  account public.accounts;
begin
  perform private.require_admin();
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
      'sessions', private.count_sessions(account.id),
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
        select coalesce(json_agg(entry.record order by entry.ordinal), '[]')
        from private.audit_records(array(
          select audit.id from public.audit
          where audit.target_id = account.id
            or audit.target_id in (
              select identities.id from public.identities where identities.account_id = account.id
            )
          order by audit.at desc, audit.id desc
          limit 20
        )) as entry
      )
    )
  );
end
$$;
comment on function private.get_user is
  'Api: For admins: an account with its identities, the numbers of sessions and listings, and the '
  'last 20 entries of the audit trail about it. 403 admin_only, 404 user_not_found.';

grant execute on function private.list_users, private.get_user to authenticated;
