create function private.require_own_organisation(account_id uuid, identity_id uuid) returns void
  language plpgsql stable set search_path = ''
as $$
begin
  if not exists (
    select from public.identities
    where identities.id = require_own_organisation.identity_id
      and identities.account_id = require_own_organisation.account_id
      and identities.type in ('company', 'office') and identities.status <> 'closed'
  ) then
    perform private.refuse(404, 'identity_not_found');
  end if;
end
$$;

create function private.document_allowance(
  account_id uuid, identity_id uuid, out allowed integer, out used integer
)
  language sql stable set search_path = ''
as $$
  select counted.allowed, counted.used
  from (
    select 10 as allowed, count(*)::integer as used from public.documents
    where documents.identity_id = document_allowance.identity_id
      and documents.discarded_at is null
    union all
    select 30, count(*)::integer from public.documents
    where documents.account_id = document_allowance.account_id
      and documents.discarded_at is null
  ) as counted
  order by counted.allowed - counted.used
  limit 1
$$;
comment on function private.document_allowance is
  'Returns the limit and the number of documents of the identity or of its account, whichever of '
  'the two has less room left.';

create function private.discard_documents(document_ids uuid[]) returns void
  language plpgsql
  security definer -- changes documents, also for jobs and triggers; the callers check the ids
  set search_path = ''
as $$
begin
  update public.documents set discarded_at = now(), name = ''
  where documents.id = any (document_ids) and documents.discarded_at is null;
end
$$;
