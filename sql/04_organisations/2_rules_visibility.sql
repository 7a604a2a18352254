create function private.is_publicly_visible(identity_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads other people's identities
  set search_path = ''
as $$
begin
  return exists (
    select from public.identities
    left join public.organisations on organisations.identity_id = identities.id
    where identities.id = is_publicly_visible.identity_id and private.identity_may_act(identities.id)
      and coalesce(organisations.listed, identities.type = 'individual')
  );
end
$$;
comment on function private.is_publicly_visible is
  'Whether the identity may act and, if it is a company or office, is verified.';
