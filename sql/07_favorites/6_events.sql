create function private.delete_favorites() returns trigger
  language plpgsql
  security definer
  set search_path = ''
as $$
begin
  delete from public.favorites where favorites.identity_id = new.id;
  return null;
end
$$;
comment on function private.delete_favorites is 'Deletes the favorites of a closed identity.';

create trigger identities_forget_their_favorites
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.delete_favorites();
