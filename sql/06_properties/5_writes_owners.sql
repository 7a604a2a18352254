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
    -- The decision of an admin goes to the person, because the identity may no longer be able to act.
    case when notify_listing_owner.kind in ('listing_suspended', 'listing_restored')
      then private.individual_of(identities.account_id) else identities.id end,
    notify_listing_owner.kind, property.id,
    jsonb_build_object('titleAr', property.title_ar, 'titleEn', property.title_en)
      || notify_listing_owner.details)
  from public.identities where identities.id = property.owner_identity_id;
end
$$;
