create function private.on_notification_request() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  perform private.make_notification(
    new.account_id, new.identity_id, new.kind, new.entity_id, new.details);
  return new;
end
$$;
comment on function private.on_notification_request is 'Creates the requested notification.';

create trigger notification_requests_are_met
  instead of insert on private.notification_requests
  for each row execute function private.on_notification_request();
