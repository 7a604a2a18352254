create function private.return_plan_time() returns trigger
  language plpgsql
  security definer -- writes the plan of the identity, whichever role lets it act again
  set search_path = ''
as $$
declare
  lost constant interval := now() - old.stopped_at;
begin
  -- The account is locked exclusively, so that nobody else changes the plan.
  update public.subscriptions
  set starts_at = subscriptions.starts_at
        + case subscriptions.status when 'next' then lost else interval '0' end,
      ends_at = subscriptions.ends_at + lost,
      -- An invoice that has expired meanwhile is issued anew with a reminder.
      reminded_at = case when subscriptions.ends_at > now()
        and subscriptions.ends_at + lost <= now() + interval '7 days' then subscriptions.reminded_at end
  where subscriptions.identity_id = new.id and subscriptions.status in ('active', 'next');
  -- A banned account is told nothing, so what the end of its plan hid is told now.
  perform private.notify(new.account_id, new.id, 'listings_hidden', null,
    jsonb_build_object('reason', 'plan', 'count', hidden.count))
  from (
    select count(*) from public.properties
    where properties.owner_identity_id = new.id and properties.status = 'paused'
      and properties.pause_reason = 'plan' and properties.paused_at >= old.stopped_at
  ) as hidden
  where hidden.count > 0 and not exists (
    select from public.notifications
    where notifications.account_id = new.account_id and notifications.identity_id = new.id
      and notifications.kind = 'listings_hidden' and notifications.created_at >= old.stopped_at
  );
  return null;
end
$$;
comment on function private.return_plan_time is
  'Lengthens the plan of an identity by the time for which an administrator''s act stopped it.';

create trigger identities_return_plan_time
  after update on public.identities
  for each row when (
    old.stopped_at is not null and new.stopped_at is null and new.status <> 'closed'
  )
  execute function private.return_plan_time();
