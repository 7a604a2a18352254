create function private.lock_contact(account_id uuid, session_id uuid) returns public.accounts
  language plpgsql
  security definer -- locks rows of Auth
  set search_path = ''
as $$
begin
  perform private.lock_user(account_id);
  return private.lock_session(account_id, session_id);
end
$$;

create function private.check_removal(
  account public.accounts, session_id uuid, proof text, kind text, what text, mail_works boolean
) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  held_until constant timestamptz := private.contact_held_until(account, kind);
begin
  if not private.proves_change(account, session_id, proof, kind) then
    perform private.refuse(401, 'invalid_credentials');
  elsif not private.has_other_way(account, what, mail_works) then
    perform private.refuse(409, 'last_identifier');
  elsif held_until is not null then
    perform private.refuse(409, 'change_too_soon', jsonb_build_object('retryAt', held_until));
  end if;
end
$$;

create function private.remove_phone(
  account_id uuid, session_id uuid, proof text, mail_works boolean
) returns void
  language plpgsql
  security definer -- writes to Auth's tables
  set search_path = ''
as $$
declare
  account constant public.accounts := private.lock_contact(account_id, session_id);
begin
  if account.phone is not null then
    perform private.check_removal(account, session_id, proof, 'phone', 'phone', mail_works);
    perform private.write_contact(account_id, session_id, 'removal', 'phone', null);
  end if;
end
$$;
comment on function private.remove_phone is
  'Removes the phone, with the same effects as a change. The call can be repeated.';

create function private.remove_provider(
  account_id uuid, session_id uuid, provider text, proof text, mail_works boolean
) returns void
  language plpgsql
  security definer -- writes to Auth's tables
  set search_path = ''
as $$
declare
  account constant public.accounts := private.lock_contact(account_id, session_id);
begin
  if not exists (
    select from auth.identities
    where identities.user_id = account.id and identities.provider = remove_provider.provider
  ) then
    return;
  end if;
  -- Providers are linked through the email, so the rules for emails apply.
  perform private.check_removal(account, session_id, proof, 'email', provider, mail_works);
  delete from auth.identities
  where identities.user_id = account.id and identities.provider = remove_provider.provider;
  update private.apple_tokens set revoke_at = now()
  where apple_tokens.account_id = account.id and remove_provider.provider = 'apple';
  perform private.end_other_access(account_id, session_id, null);
  perform private.notify(account_id, null, 'security_contact', null, jsonb_build_object(
    'act', 'removal', 'kind', 'provider', 'provider', provider, 'at', clock_timestamp()));
  perform private.send_contact_messages(account, 'provider', null, recipient.value)
  from unnest(array[account.phone, private.proven_contact(account, 'email')]) as recipient (value);
end
$$;
comment on function private.remove_provider is
  'Unlinks a provider. Afterwards it can be linked again only through the account''s email.';

grant execute on function private.remove_phone, private.remove_provider to backend;
