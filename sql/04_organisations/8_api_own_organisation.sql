-- The routes of whoever acts as a company or office.

create function api.get_company_profile() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_profile('company');
end
$$;
comment on function api.get_company_profile is
  'The page of the acting company. 403 identity_type_required for any other identity.';

create function api.update_company_profile(fields jsonb) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.count_action('profile');
  return private.update_profile('company', update_company_profile.fields);
end
$$;
comment on function api.update_company_profile is
  'Changes the page of the acting company; name and licence go back to verification.';

create function api.list_company_listings(
  status text default null, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select mine.items, mine."nextCursor"
  from private.list_own_listings('company', status, page_cursor, page_size) as mine;
end
$$;
comment on function api.list_company_listings is
  'The listings of the acting company, newest first, all or those in one state.';

create function api.list_company_leads(
  page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select mine.items, mine."nextCursor"
  from private.list_leads('company', page_cursor, page_size) as mine;
end
$$;
comment on function api.list_company_leads is
  'Who asked the acting company for a contact, about what and how, newest first.';

create function api.get_company_stats() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_stats('company');
end
$$;
comment on function api.get_company_stats is 'Figures of the acting company.';

create function api.get_office_profile() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_profile('office');
end
$$;
comment on function api.get_office_profile is
  'The page of the acting office. 403 identity_type_required for any other identity.';

create function api.update_office_profile(fields jsonb) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.count_action('profile');
  return private.update_profile('office', update_office_profile.fields);
end
$$;
comment on function api.update_office_profile is
  'Changes the page of the acting office; name and licence go back to verification.';

create function api.list_office_listings(
  status text default null, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select mine.items, mine."nextCursor"
  from private.list_own_listings('office', status, page_cursor, page_size) as mine;
end
$$;
comment on function api.list_office_listings is
  'The listings of the acting office, newest first, all or those in one state.';

create function api.list_office_leads(
  page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select mine.items, mine."nextCursor"
  from private.list_leads('office', page_cursor, page_size) as mine;
end
$$;
comment on function api.list_office_leads is
  'Who asked the acting office for a contact, about what and how, newest first.';

create function api.get_office_stats() returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.get_stats('office');
end
$$;
comment on function api.get_office_stats is 'Figures of the acting office.';

grant execute on function
  api.get_company_profile, api.update_company_profile, api.list_company_listings,
  api.list_company_leads, api.get_company_stats, api.get_office_profile, api.update_office_profile,
  api.list_office_listings, api.list_office_leads, api.get_office_stats
  to authenticated;
