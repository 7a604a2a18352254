create function private.purge_closed_licences() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.closed_licences', 'closed_at', '2 years')
$$;
comment on function private.purge_closed_licences is
  'Job: deletes the licences of companies and offices that were closed two years ago.';

grant execute on function private.purge_closed_licences to backend;
