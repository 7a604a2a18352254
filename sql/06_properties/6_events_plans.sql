create function private.bring_back_listings(identity_id uuid) returns void
  language plpgsql
  security definer -- writes listings and notifies their owner, whoever pays for the plan
  set search_path = ''
as $$
declare
  property public.properties;
  back integer := 0;
begin
  perform private.lock_quota(identity_id);
  perform from public.properties
  where properties.owner_identity_id = bring_back_listings.identity_id
    and properties.status = 'paused' and properties.pause_reason = 'plan'
  order by properties.id
  for no key update;
  for property in
    select * from public.properties
    where properties.owner_identity_id = bring_back_listings.identity_id
      and properties.status = 'paused' and properties.pause_reason = 'plan'
      and properties.paused_at > now() - interval '90 days'
    order by properties.published_at, properties.id
  loop
    exit when not private.has_room(identity_id, false);
    begin
      perform private.check_reachable(property);
      property.status := 'active';
      property := private.publish_or_review(property);
      update public.properties set status = property.status, version = properties.version + 1
      where properties.id = property.id;
      -- a listing that awaits approval is not counted
      back := back + (property.status = 'active')::integer;
    exception
      when sqlstate 'PT409' or sqlstate 'PT422' then null; -- its owner could not resume it either
    end;
  end loop;
  if back > 0 then
    perform private.notify(identities.account_id, identities.id, 'listings_back', null,
      jsonb_build_object('reason', 'plan', 'count', back))
    from public.identities where identities.id = bring_back_listings.identity_id;
  end if;
end
$$;
comment on function private.bring_back_listings is
  'Resumes listings that the end of a plan has paused in the last 90 days, the oldest first, if '
  'the quota has room and the owner could resume them. Notifies the owner once.';

create function private.on_plan_interval() returns trigger
  language plpgsql
  security definer -- reads the subscription of the interval
  set search_path = ''
as $$
begin
  perform private.bring_back_listings(subscriptions.identity_id) from public.subscriptions
  where subscriptions.id = new.subscription_id;
  return null;
end
$$;
comment on function private.on_plan_interval is
  'Resumes listings that the end of a plan has paused, once an interval is paid.';

create trigger subscription_intervals_bring_listings_back
  after insert on public.subscription_intervals
  for each row execute function private.on_plan_interval();

create function private.on_next_plan() returns trigger
  language plpgsql
  security definer -- writes listings, whoever begins the plan
  set search_path = ''
as $$
begin
  perform private.bring_back_listings(new.identity_id);
  return null;
end
$$;
comment on function private.on_next_plan is
  'Resumes listings that the end of a plan has paused, once the next one begins.';

create trigger subscriptions_bring_listings_back
  after update of status on public.subscriptions
  for each row when (old.status = 'next' and new.status = 'active')
  execute function private.on_next_plan();
