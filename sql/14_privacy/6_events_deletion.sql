create function private.forget_traces() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from private.codes
  where codes.account_id = new.id or codes.identifier in (old.email, old.phone);
  delete from private.contact_changes where contact_changes.account_id = new.id;
  delete from private.contact_messages where contact_messages.account_id = new.id;
  delete from private.known_addresses where known_addresses.account_id = new.id;
  delete from private.idempotency_keys where idempotency_keys.account_id = new.id;
  return null;
end
$$;
comment on function private.forget_traces is
  'Deletes the traces of a deleted account. Counters of rates are kept until they expire within a '
  'day, because they protect the phone and the email, not the account.';

create trigger accounts_leave_no_traces
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_traces();
