create function private.bring_back_listings(identity_id uuid) returns void
  language plpgsql
  security definer -- writes listings and notifies their owner, regardless of who pays for the plan
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
      -- The notification does not count listings that wait for approval.
      back := back + (property.status = 'active')::integer;
    exception
      when sqlstate 'PT409' or sqlstate 'PT422' then null; -- the owner could not resume it either
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
  'Resumes listings that were paused in the last 90 days because a plan ended, the oldest first, '
  'as long as the quota has room. Skips listings that the owner could not resume either. Notifies '
  'the owner once.';

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
  'Resumes the listings that were paused because a plan ended, once an interval has been paid.';

create trigger subscription_intervals_bring_listings_back
  after insert on public.subscription_intervals
  for each row execute function private.on_plan_interval();

create function private.on_next_plan() returns trigger
  language plpgsql
  security definer -- writes listings, regardless of who starts the plan
  set search_path = ''
as $$
begin
  perform private.bring_back_listings(new.identity_id);
  return null;
end
$$;
comment on function private.on_next_plan is
  'Resumes the listings that were paused because a plan ended, once the next plan begins.';

create trigger subscriptions_bring_listings_back
  after update of status on public.subscriptions
  for each row when (old.status = 'next' and new.status = 'active')
  execute function private.on_next_plan();
