-- A deletion can be cancelled for 14 days by signing in. Every deletion of the Auth user calls
-- private.anonymise_account; each area cleans up by a trigger on accounts.status -> 'deleted' or
-- identities.status -> 'closed'. Financial records are kept, without names.

create function private.obligations(account_id uuid, money text, identity_id uuid default null)
  returns text[]
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return array_remove(array[
    case when exists (
      select from public.properties
      join public.identities on identities.id = properties.owner_identity_id
      where identities.account_id = obligations.account_id
        and identities.id = coalesce(obligations.identity_id, identities.id)
        and properties.status in ('active', 'paused', 'pending_review')
        and properties.auction_ends_at > now()
    ) then 'auction' end,
    case when private.has_obligations(account_id, money, identity_id) then 'money' end
  ], null);
end
$$;
comment on function private.obligations is
  'The obstacles to the deletion of the account, or to the closing of one identity: auction, money '
  'or both. The argument money is the person''s decision about the wallets.';
