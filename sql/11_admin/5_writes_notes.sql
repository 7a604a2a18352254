create function private.lock_noted_account(target_type text, target_id uuid) returns uuid
  language plpgsql
  security definer -- locks and reads other people's data, for an admin
  set search_path = ''
as $$
declare
  kind constant text := case target_type when 'property' then 'listing' else target_type end;
  about_id constant uuid := private.account_of_target(kind, target_id);
begin
  perform from public.accounts
  where accounts.id = about_id and (accounts.status <> 'deleted' or kind = 'payout')
  for share;
  if not found or private.find_target(kind, target_id::text) <> array[target_id] then
    perform private.refuse(404, 'not_found');
  end if;
  -- A note is deleted together with its target. The lock makes sure that the target exists until the note
  -- is stored.
  case kind
    when 'identity' then
      perform from public.identities
      where identities.id = lock_noted_account.target_id
        and identities.status <> 'closed'
      for share;
    when 'listing' then
      perform from public.properties
      where properties.id = lock_noted_account.target_id
        and properties.status <> 'deleted'
      for share;
    when 'duplicate' then
      perform from public.duplicates where duplicates.id = lock_noted_account.target_id for share;
    when 'report' then
      perform from public.reports
      where reports.id = lock_noted_account.target_id
        and reports.stored_content is not null
      for share;
    when 'payout' then
      perform from public.wallet_payouts
      where wallet_payouts.id = lock_noted_account.target_id
        and num_nonnulls(wallet_payouts.name, wallet_payouts.phone, wallet_payouts.email) > 0
      for share;
    else null;
  end case;
  if not found then
    perform private.refuse(404, 'not_found');
  end if;
  return about_id;
end
$$;
comment on function private.lock_noted_account is
  'Locks the target of a note and its account, so that a transaction that deletes their notes '
  'waits. Returns the id of the account.';

create function private.add_note(target_type text, target_id uuid, note text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  words constant text := nullif(
    btrim(private.normal_form(note, 'nfc', 1000, 'text'), E' \t\r\n'), '');
  added public.notes;
begin
  perform private.refuse_fields((
    select coalesce(jsonb_agg(private.field_problem(path, problem, 1, 1000)), '[]')
    from (values
      ('targetType', case
        when target_type is null then 'required'
        when not private.is_word('note_target', target_type) then 'invalid'
      end),
      ('targetId', case when target_id is null then 'required' end),
      ('text', coalesce(private.length_problem(coalesce(words, left(note, 0)), 1, 1000),
        case when not private.is_clean(words) then 'invalid' end))
    ) as rule (path, problem)
    where problem is not null
  ));
  insert into public.notes (account_id, target_type, target_id, by_id, body)
  values (private.lock_noted_account(target_type, target_id), add_note.target_type,
    add_note.target_id, admin_id, words)
  returning * into added;
  -- The audit trail does not get the text, because its entries are never deleted.
  perform private.audit('note.added', 'note', added.id, null, null,
    jsonb_build_object('targetType', target_type, 'targetId', target_id));
  return private.note_record(added);
end
$$;
comment on function private.add_note is
  'Api: For admins: adds a note about an account, identity, property, report, duplicate or '
  'payout. 403 admin_only, 404 not_found.';

grant execute on function private.add_note to authenticated;
