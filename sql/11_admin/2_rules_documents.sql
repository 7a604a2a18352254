-- Only an admin who has seen all documents of a company or office can verify or reject it.

create function private.document_ids(identity_id uuid) returns uuid[]
  language sql stable
  security definer -- reads other people's documents, for an admin
  set search_path = ''
as $$
  select array(
    select documents.id from public.documents
    where documents.identity_id = document_ids.identity_id and documents.discarded_at is null
    order by documents.id
  )
$$;

create function private.row_version(shown jsonb) returns integer
  language sql stable
  -- Seven hexadecimal digits (28 bits) always fit into a positive integer.
  return ('x' || left(md5(shown::text), 7))::bit(28)::integer;
comment on function private.row_version is
  'The version of a row that is shown to an administrator: a hash of its content.';

create function private.page_version(identity_id uuid) returns integer
  language sql stable
  security definer -- reads other people's pages and documents, for an admin
  set search_path = ''
as $$
  select private.row_version(jsonb_build_array(
    to_jsonb(organisations) - '{verified,active,holds_licence,listed,rating_avg,rating_count,rating_weighed,active_listings_count,median_response_minutes}'::text[],
    identities.pending_changes, private.document_ids(identity_id)))
  from public.organisations
  join public.identities on identities.id = organisations.identity_id
  where organisations.identity_id = page_version.identity_id
$$;
comment on function private.page_version is
  'The version of what an admin sees when deciding about a company or office: a hash of its page, '
  'pending changes and documents.';

create function private.check_documents_seen(identity public.identities, seen uuid[]) returns void
  language plpgsql set search_path = ''
as $$
declare
  there constant uuid[] := private.document_ids(identity.id);
begin
  if (seen is not null or identity.status = 'pending_verification')
    and there <> array(select distinct id from unnest(seen) as id order by id) then
    perform private.refuse(409, 'documents_changed', jsonb_build_object('documentIds', there));
  end if;
end
$$;

create function private.audited_documents(identity_id uuid) returns jsonb
  language sql stable
  security definer -- reads other people's documents, for the audit trail
  set search_path = ''
as $$
  select jsonb_agg(jsonb_build_object('name', documents.name, 'type', documents.type,
    'size', documents.bytes, 'sha256', documents.sha256)
    order by documents.created_at, documents.file)
  from public.documents
  where documents.identity_id = audited_documents.identity_id and documents.discarded_at is null
$$;

create function private.check_documents_by_hand() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  stack text;
begin
  get diagnostics stack = pg_context;
  if private.is_by_hand(stack) and private.document_ids(new.id) <> '{}' then
    perform private.refuse_by_hand('It has papers: look at them (admin_documents), then add a row '
      'to admin_acts with act verify_identity or reject_identity and the version shown there.');
  end if;
  return new;
end
$$;
comment on function private.check_documents_by_hand is
  'Refuses to verify or reject in Studio or with SQL if there are documents, because nothing shows '
  'that an admin has seen them.';
create trigger identities_with_documents_are_decided_by_acts
  before update of status on public.identities
  for each row when (
    old.status = 'pending_verification' and new.status in ('active', 'rejected')
  )
  execute function private.check_documents_by_hand();
