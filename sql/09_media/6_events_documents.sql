create function private.on_documents_decided() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  -- A change that the owner withdrew is not a decision of an admin.
  if private.account_id() is distinct from new.account_id then
    update public.documents set kept_until = now() + interval '90 days'
    where documents.identity_id = new.id and documents.discarded_at is null;
  end if;
  return null;
end
$$;
comment on function private.on_documents_decided is
  'Keeps the documents of a company or office for 90 days after the last decision of an admin.';
create trigger identities_keep_documents_a_while
  after update of status, pending_changes on public.identities
  for each row when (
    new.status <> old.status and new.status in ('active', 'rejected', 'suspended')
    or new.pending_changes is null and old.pending_changes is not null and new.status <> 'closing'
  )
  execute function private.on_documents_decided();

create function private.on_documents_owner_closed() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update public.documents set kept_until = now() + interval '180 days'
  where documents.identity_id = new.id and documents.discarded_at is null;
  return null;
end
$$;
comment on function private.on_documents_owner_closed is
  'Keeps the documents of an identity for 180 days after it is closed, for administrators.';
create trigger identities_leave_their_documents
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.on_documents_owner_closed();

create function private.on_documents_account_deleted() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  perform private.discard_documents(array(
    select documents.id from public.documents where documents.account_id = new.id
  ));
  return null;
end
$$;
comment on function private.on_documents_account_deleted is
  'Discards the documents of an account when it is deleted.';
create trigger accounts_take_their_documents
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.on_documents_account_deleted();
