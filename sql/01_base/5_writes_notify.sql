create function private.notify(
  account_id uuid, identity_id uuid, kind text, entity_id uuid, details jsonb default '{}'
) returns void
  language plpgsql
  security definer -- clients and acting may not insert notifications
  set search_path = ''
as $$
begin
  insert into private.notification_requests (account_id, identity_id, kind, entity_id, details)
  values (notify.account_id, notify.identity_id, notify.kind, notify.entity_id, notify.details);
end
$$;
comment on function private.notify is
  'Creates a notification in the caller''s transaction, but never makes the transaction fail. '
  'details has the values for the texts of the kind. Optional: by (the acting account; nothing is '
  'sent if one of the two accounts has blocked the other), from (the identity that the '
  'notification mentions) and at (the time of the event).';
