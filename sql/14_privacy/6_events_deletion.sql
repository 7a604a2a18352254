create function private.on_deletion_requested() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if new.delete_at is null then
    perform private.notify(new.id, null, 'deletion_cancelled', null);
  else
    insert into private.contact_messages (account_id, sent_to, body)
    select new.id, contact.value,
      'طُلب حذف حسابك ويُحذف بعد 14 يوماً. إن لم تطلبه فسجّل الدخول لإلغائه'
    from unnest(array[new.phone, private.proven_contact(new, 'email')]) as contact (value)
    where contact.value is not null;
    perform private.notify(new.id, null, 'deletion_requested', null);
  end if;
  return null;
end
$$;
comment on function private.on_deletion_requested is
  'Notifies the account that its deletion was requested (also by SMS and to the proven email) or '
  'cancelled.';

create trigger accounts_tell_of_their_deletion
  after update of delete_at on public.accounts
  for each row when (
    (old.delete_at is null) <> (new.delete_at is null) and new.status <> 'deleted'
  )
  execute function private.on_deletion_requested();
comment on trigger accounts_tell_of_their_deletion on public.accounts is
  'Runs after the triggers that delete the sessions and hide the account.';

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
  'Deletes the remaining data about a deleted account. Rate limit counters are kept until they '
  'expire within a day, because they protect the phone and the email, not the account.';

create trigger accounts_leave_no_traces
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_traces();
