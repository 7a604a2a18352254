create function private.return_plan_time() returns trigger
  language plpgsql
  security definer -- writes the plan of the identity, whichever role lets it act again
  set search_path = ''
as $$
declare
  lost constant interval := now() - old.stopped_at;
begin
  -- The account is locked exclusively, so no other transaction changes the plan.
  update public.subscriptions
  set starts_at = subscriptions.starts_at
        + case subscriptions.status when 'next' then lost else interval '0' end,
      ends_at = subscriptions.ends_at + lost,
      -- The invoice for the renewal may have expired, so another reminder issues a new invoice.
      reminded_at = case when subscriptions.ends_at > now()
        and subscriptions.ends_at + lost <= now() + interval '7 days' then subscriptions.reminded_at end
  where subscriptions.identity_id = new.id and subscriptions.status in ('active', 'next');
  return null;
end
$$;
comment on function private.return_plan_time is
  'When a stopped identity may act again, extends its plan by the time for which it was stopped.';

create trigger identities_return_plan_time
  after update on public.identities
  for each row when (
    old.stopped_at is not null and new.stopped_at is null and new.status <> 'closed'
  )
  execute function private.return_plan_time();
