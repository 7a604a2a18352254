create function private.claim_moderation(id uuid) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  waits constant boolean := private.awaits_decision(id);
  decision constant json := private.last_decision(id);
begin
  if waits then
    insert into public.item_claims (item_id, account_id) values (claim_moderation.id, admin_id)
    on conflict on constraint item_claims_pkey do update
    set account_id = excluded.account_id, claimed_at = excluded.claimed_at
    where item_claims.account_id = excluded.account_id
      or item_claims.claimed_at <= now() - interval '15 minutes';
  elsif decision is null then
    perform private.refuse(404, 'not_found');
  end if;
  return json_build_object('id', id, 'waits', waits,
    'claimedBy', private.claimed_by_json(id), 'lastDecision', decision,
    'item', case when waits then (
      select records.record from private.moderation_records(array[id]) as records
    ) end);
end
$$;
comment on function private.claim_moderation is
  'Api: For admins: claims an item for the caller for 15 minutes, unless another admin has claimed '
  'it. Returns who holds the claim, the last decision about the item, and its current record. 403 '
  'admin_only, 404 not_found.';

create function private.release_moderation(id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
begin
  delete from public.item_claims
  where item_claims.item_id = release_moderation.id and item_claims.account_id = admin_id;
end
$$;
comment on function private.release_moderation is
  'Api: For admins: ends the caller''s claim on an item. 403 admin_only.';

grant execute on function private.claim_moderation, private.release_moderation to authenticated;
