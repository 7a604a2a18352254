create function private.anonymise_account(account_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  update public.accounts
  set email = null, phone = null, email_proven = false, terms_version = null,
      terms_accepted_at = null, status = 'deleted', status_reason = null,
      suspended_until = null, delete_at = null, unreachable_since = null, active_identity_id = null
  where accounts.id = anonymise_account.account_id;
  update public.individual_profiles
  set full_name = null, avatar_url = null, last_sign_in_at = '-infinity'
  where individual_profiles.account_id = anonymise_account.account_id;
  update public.identities
  set status = 'closed', display_name = 'حساب محذوف', avatar_url = null, status_reason = null
  where identities.account_id = anonymise_account.account_id;
end
$$;
comment on function private.anonymise_account is
  'Removes the personal data of an account. These updates fire triggers that clean up the other '
  'areas.';

create function private.on_account_deleted_for_apple() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  update private.apple_tokens set revoke_at = now() where apple_tokens.account_id = new.id;
  return null;
end
$$;
comment on function private.on_account_deleted_for_apple is
  'Makes a job revoke the account''s Apple tokens.';

create trigger accounts_revoke_apple
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.on_account_deleted_for_apple();
