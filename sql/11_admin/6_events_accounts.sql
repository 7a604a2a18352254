create function private.end_sessions() returns trigger
  language plpgsql
  security definer -- deletes from an Auth table, for any role that locks the account
  set search_path = ''
as $$
begin
  -- Usually the caller has locked the sessions already. If another transaction has locked a session, a job
  -- deletes it later: waiting here could deadlock, as that transaction may be waiting for the account.
  delete from auth.sessions where sessions.id in (
    select own.id from auth.sessions as own where own.user_id = new.id for update skip locked
  );
  insert into private.sessions_left (session_id, account_id)
  select sessions.id, new.id from auth.sessions where sessions.user_id = new.id
  on conflict do nothing;
  return null;
end
$$;
comment on function private.end_sessions is 'Signs an account out everywhere.';

create trigger accounts_end_sessions
  after update of status, suspended_until, delete_at on public.accounts
  for each row when (
    (old.status, old.suspended_until, old.delete_at)
      is distinct from (new.status, new.suspended_until, new.delete_at)
    and (private.is_locked(new) or new.delete_at is not null)
  )
  execute function private.end_sessions();

create function private.forget_notes() returns trigger
  language plpgsql
  security definer -- writes rows of the deleted account
  set search_path = ''
as $$
begin
  update public.reports set note = null
  where reports.account_id = new.id and reports.note is not null;
  update public.reports set stored_content = null
  from public.identities
  where identities.account_id = new.id and reports.reported_identity_id = identities.id
    and reports.status <> 'open' and reports.stored_content is not null;
  update public.admin_acts set note = null
  where admin_acts.account_id = new.id and admin_acts.note is not null;
  delete from public.notes where notes.account_id = new.id;
  return null;
end
$$;
comment on function private.forget_notes is
  'Deletes notes by or about the account, and the stored copies of its content in decided reports.';

create trigger accounts_forget_notes
  after update of status on public.accounts
  for each row when (new.status = 'deleted' and old.status <> 'deleted')
  execute function private.forget_notes();

create function private.forget_notes_about() returns trigger
  language plpgsql
  security definer -- deletes administrators' notes, for any role that changes or deletes the row
  set search_path = ''
as $$
begin
  delete from public.notes where notes.target_id = old.id;
  return null;
end
$$;
comment on function private.forget_notes_about is
  'Deletes the notes about a row that is deleted, closed or emptied.';

create trigger identities_take_their_notes
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.forget_notes_about();
create trigger properties_take_their_notes
  after delete on public.properties
  for each row execute function private.forget_notes_about();
create trigger duplicates_take_their_notes
  after delete on public.duplicates
  for each row execute function private.forget_notes_about();
create trigger reports_take_their_notes
  after update of stored_content on public.reports
  for each row when (old.stored_content is not null and new.stored_content is null)
  execute function private.forget_notes_about();
create trigger payouts_take_their_notes
  after update of name, phone, email on public.wallet_payouts
  for each row when (
    num_nonnulls(old.name, old.phone, old.email) > 0
    and num_nonnulls(new.name, new.phone, new.email) = 0
  )
  execute function private.forget_notes_about();
