create function private.notify_listing_owner(
  property public.properties, kind text, details jsonb
) returns void
  language plpgsql
  security definer -- reads the account of an identity
  set search_path = ''
as $$
begin
  perform private.notify(
    identities.account_id,
    -- The person is notified of a decision of an admin, even if the identity can no longer act.
    case when notify_listing_owner.kind in ('listing_suspended', 'listing_restored')
      then private.individual_of(identities.account_id) else identities.id end,
    notify_listing_owner.kind, property.id,
    jsonb_build_object('titleAr', property.title_ar, 'titleEn', property.title_en)
      || notify_listing_owner.details)
  from public.identities where identities.id = property.owner_identity_id;
end
$$;
