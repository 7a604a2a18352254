create function private.purge_publications() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.publications', 'until', '7 hours')
$$;
comment on function private.purge_publications is
  'Job: deletes publications that no readable snapshot needs any more, 1,000 at a time.';

create function private.purge_office_ranks() returns bigint
  language sql security definer set search_path = ''
as $$
  select private.purge('private.office_ranks', 'until', '7 hours')
$$;
comment on function private.purge_office_ranks is
  'Job: deletes ranks that no readable snapshot needs any more, 1,000 at a time.';

grant execute on function private.purge_publications, private.purge_office_ranks to backend;
