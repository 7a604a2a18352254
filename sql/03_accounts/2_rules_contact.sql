-- Neither a stolen token nor a stolen phone number is enough to change both phone and email. A code
-- proves only the contact that it was sent to. After a contact was changed, or used for a password
-- reset, the other contact cannot be changed for 72 hours. A reset with a code to the other contact
-- undoes the change (5_writes_resets.sql).

create function private.other_kind(kind text) returns text
  language sql immutable
  return case kind when 'phone' then 'email' else 'phone' end;

create function private.proven_contact(account public.accounts, kind text) returns text
  language plpgsql immutable set search_path = ''
as $$
begin
  return case when kind = 'phone' then account.phone when account.email_proven then account.email end;
end
$$;

create function private.contact_held_until(account public.accounts, kind text) returns timestamptz
  language sql stable security definer set search_path = ''
as $$
  select max(changes.done_at) + interval '72 hours' from private.contact_changes as changes
  where changes.account_id = account.id and changes.kind <> contact_held_until.kind
    and changes.other_value = private.proven_contact(account, contact_held_until.kind)
    and changes.done_at > now() - interval '72 hours'
$$;
comment on function private.contact_held_until is
  'When the 72 hours end in which this contact cannot be changed; null if it can be changed.';

create function private.proves_change(
  account public.accounts, session_id uuid, proof text, kind text
) returns boolean
  language plpgsql stable
  security definer -- reads Auth's tables
  set search_path = ''
as $$
begin
  return coalesce(case proof
    when 'password' then true
    -- A provider is sufficient only for an account that has neither phone nor email.
    when 'provider' then coalesce(account.phone, account.email) is null and exists (
        select from auth.identities
        where identities.user_id = account.id and identities.provider not in ('email', 'phone')
      ) and exists (
        select from auth.mfa_amr_claims as method
        where method.session_id = proves_change.session_id
          and method.authentication_method = 'oauth'
          and method.created_at > now() - interval '5 minutes'
      )
    else proof in (account.phone, private.proven_contact(account, 'email'))
      and proof = coalesce(private.proven_contact(account, kind), proof)
  end, false);
end
$$;
comment on function private.proves_change is
  'Whether proof is sufficient for a change: password, provider (within five minutes of a sign-in '
  'with a provider) or the contact that a code was sent to. A contact of the other kind is '
  'sufficient only if the account has no proven contact of this kind.';

create function private.has_other_way(
  account public.accounts, without text, mail_works boolean
) returns boolean
  language plpgsql stable
  security definer -- reads auth.identities
  set search_path = ''
as $$
begin
  return account.email_proven and mail_works
    or account.phone is not null and without <> 'phone'
    or exists (
      select from auth.identities
      where identities.user_id = account.id
        and identities.provider not in ('email', 'phone', without)
    );
end
$$;
comment on function private.has_other_way is
  'Whether the account can still be signed in to without the given phone or provider.';

create function private.lock_session(account_id uuid, session_id uuid) returns public.accounts
  language plpgsql
  security definer -- reads auth.sessions, and locks the account
  set search_path = ''
as $$
declare
  account constant public.accounts := private.lock_account_exclusively(account_id);
begin
  if private.is_locked(account) or not exists (
    select from auth.sessions
    where sessions.id = lock_session.session_id and sessions.user_id = account.id
  ) then
    perform private.refuse(401, 'token_invalid');
  end if;
  return account;
end
$$;
comment on function private.lock_session is
  'Locks the account of a session. Raises 401 token_invalid if the session has ended or the '
  'account is suspended, banned or deleted.';
