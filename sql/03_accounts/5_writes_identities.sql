create function private.switch_identity(identity_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  caller_id uuid := private.lock_caller_exclusively();
  target public.identities;
begin
  perform private.check_expected(private.identity_id());
  select * into target from public.identities
  where identities.account_id = caller_id
    and identities.id = switch_identity.identity_id;
  if target.id is null then
    perform private.refuse(404, 'identity_not_found');
  elsif target.status <> 'active' then
    perform private.refuse(403, 'identity_not_usable');
  end if;
  update public.accounts set active_identity_id = target.id
  where accounts.id = caller_id;
end
$$;

create function api.switch_identity(identity_id uuid)
  returns table ("user" json, "activeIdentity" json, identities json)
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('switches');
  perform private.switch_identity(switch_identity.identity_id);
  return query select me."user", me."activeIdentity", me.identities from api.get_me() as me;
end
$$;
comment on function api.switch_identity is
  'From the next request on, the account acts as this identity on every device. '
  '404 identity_not_found, 403 identity_not_usable.';

grant execute on function private.switch_identity, api.switch_identity to authenticated;
