create function private.organisation_records(identity_ids uuid[])
  returns table (ordinal bigint, id uuid, record json)
  language plpgsql stable
  rows 20
  security definer -- reads other people's organisations; callers have checked access
  set search_path = ''
as $$
begin
  return query
  select
    requested.ordinal,
    requested.id,
    (
      select to_json(shown) from (
        select
          organisations.identity_id as id,
          identities.type,
          organisations.name_ar as "nameAr",
          organisations.name_en as "nameEn",
          organisations.slug,
          organisations.logo_url as "logoUrl",
          organisations.cover_url as "coverUrl",
          organisations.about_ar as "aboutAr",
          organisations.phone,
          organisations.whatsapp,
          organisations.email,
          organisations.website,
          organisations.licence_no as "licenceNo",
          organisations.licence_expires_on as "licenceExpiresOn",
          organisations.governorate_id as "governorateId",
          organisations.area_id as "areaId",
          organisations.address_ar as "addressAr",
          organisations.working_hours as "workingHours",
          organisations.verified,
          organisations.rating_avg as "ratingAvg",
          organisations.rating_count as "ratingCount",
          organisations.active_listings_count as "activeListingsCount",
          organisations.median_response_minutes as "medianResponseMinutes",
          organisations.created_at as "memberSince"
      ) as shown
    )
  from unnest(identity_ids) with ordinality as requested (id, ordinal)
  join public.organisations on organisations.identity_id = requested.id
  join public.identities on identities.id = requested.id
  order by requested.ordinal;
end
$$;
comment on function private.organisation_records is
  'The pages of these identities, in order. The caller must have checked that they are visible.';

create function private.organisation_profile(identity_id uuid) returns json
  language plpgsql stable
  security definer -- callers have checked that the identity is the acting one
  set search_path = ''
as $$
begin
  return (
    select (left(records.record::text, -1) || ',"status":' || to_json(identities.status)
      || ',"statusReason":' || coalesce(to_json(identities.status_reason), 'null')
      || ',"pendingChanges":' || coalesce(identities.pending_changes::text, 'null') || '}')::json
    from private.organisation_records(array[organisation_profile.identity_id]) as records
    join public.identities on identities.id = records.id
  );
end
$$;
