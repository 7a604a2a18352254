create function private.picture_limit(identity_id uuid) returns integer
  language plpgsql stable set search_path = ''
as $$
begin
  return (private.plan_of(identity_id)).photos_per_listing;
end
$$;

create function private.picture_allowance(identity_id uuid, out allowed integer, out used integer)
  language plpgsql stable set search_path = ''
as $$
declare
  plan public.plans := private.plan_of(identity_id);
begin
  -- This leaves room for drafts, closed and archived listings, and for listings that are being created.
  allowed := plan.photos_per_listing * plan.active_listings * 4 + 200;
  used := (
    select count(*) from public.media
    where media.identity_id = picture_allowance.identity_id
      -- Pictures of messages are kept forever, so those older than 30 days are not counted.
      and (media.use is distinct from 'message' or media.created_at > now() - interval '30 days')
  );
end
$$;

create function private.lock_unused_pictures(account_id uuid) returns void
  language sql set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('unused pictures ' || account_id, 0))
$$;
comment on function private.lock_unused_pictures is
  'Serialises the uploads of an account that are not for an existing listing, so that concurrent '
  'ones cannot exceed its limit of unused pictures.';

create function private.upload_room(
  account_id uuid, identity_id uuid, property public.properties, session_pictures integer,
  out error text, out allowed integer, out used integer
)
  language plpgsql stable set search_path = ''
as $$
begin
  select rule.error, rule.allowed, rule.used into error, allowed, used
  from (
    select 'uploads_full', 200, (
      select count(*)::integer from public.media
      where media.account_id = upload_room.account_id
        and media.use is null and media.discarded_at is null
    )
    where property.id is null
    union all
    select 'uploads_full', 40, session_pictures where property.id is null
    union all
    select 'quota_exceeded', private.picture_limit(identity_id),
      case when property.id is null then session_pictures
        else cardinality(private.owner_pictures(property)) end
    union all
    select 'quota_exceeded', allowance.allowed, allowance.used
    from private.picture_allowance(identity_id) as allowance
  ) as rule (error, allowed, used)
  where rule.used is not null
  order by rule.allowed - rule.used, rule.error desc
  limit 1;
end
$$;
comment on function private.upload_room is
  'Returns the limit with the least room left, and the error to raise when it is reached. '
  'session_pictures: the number of unused pictures in the session; null for an avatar, which has '
  'no session.';

create function private.refuse_upload(error text, allowed integer, used integer) returns void
  language sql set search_path = ''
as $$
  select private.refuse(case error when 'uploads_full' then 409 else 402 end, error,
    jsonb_build_object('limit', allowed, 'used', used))
$$;
