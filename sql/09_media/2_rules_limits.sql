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
  -- This is enough for drafts, closed and archived listings, and a few that are being created.
  allowed := plan.photos_per_listing * plan.active_listings * 4 + 200;
  used := (
    select count(*) from public.media
    where media.identity_id = picture_allowance.identity_id
      -- Pictures of messages stay for ever, so that older ones must not use it up.
      and (media.use is distinct from 'message' or media.created_at > now() - interval '30 days')
  );
end
$$;

create function private.refuse_picture_quota(identity_id uuid) returns void
  language plpgsql set search_path = ''
as $$
declare
  allowed integer := private.picture_limit(identity_id);
begin
  perform private.refuse(402, 'quota_exceeded',
    jsonb_build_object('limit', allowed, 'used', allowed));
end
$$;
