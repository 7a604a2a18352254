-- For 14 days, signing in cancels a deletion. When the Auth user is deleted in any way,
-- private.anonymise_account runs. Each area then cleans up in a trigger on accounts.status -> 'deleted' or
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
  'What prevents the deletion of the account, or the closing of one identity: auction, money or '
  'both. The argument money is what the person has decided about the wallets.';
