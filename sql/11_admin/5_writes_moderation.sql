create function private.transition_sentence(kind text, status text, allowed text[]) returns text
  language sql stable
  return format('The %s is %s: %s.', kind, replace(status, '_', ' '), case when allowed = '{}'
    then 'nothing more is decided about it'
    else 'what can be done is ' || array_to_string(allowed, ', ') end);

create function private.moderate_property(
  property public.properties, decision text, reason text, version integer
) returns json
  language plpgsql
  security definer -- updates someone else's listing on an admin's behalf
  set search_path = ''
as $$
begin
  property := private.lock_to_decide(property.id, version);
  if not decision = any (private.property_decisions(property)) then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', property.status, 'allowed', private.property_decisions(property)),
      private.transition_sentence('listing', property.status,
        private.property_decisions(property)));
  end if;
  perform private.audit('property.' || decision, 'property', property.id, reason,
    jsonb_build_object('status', property.status), null);
  case decision
    when 'approve' then perform private.decide_property(property.id, true, reason);
    when 'reject' then perform private.decide_property(property.id, false, reason);
    when 'suspend' then perform private.suspend_property(property.id, reason);
    else perform private.lift_suspension(property.id);
  end case;
  return (
    select json_build_object(
      'id', properties.id,
      'kind', 'listing',
      'status', properties.status,
      'decisions', private.property_decisions(properties))
    from public.properties where properties.id = property.id
  );
end
$$;
comment on function private.moderate_property is
  'Executes a decision about a listing. Locks the quota of its owner first, then the listing.';

create function private.moderate_identity(
  identity public.identities, decision text, reason text, document_ids uuid[], version integer
) returns json
  language plpgsql
  security definer -- updates someone else's identity on an admin's behalf
  set search_path = ''
as $$
begin
  if not decision = any (private.identity_moderation(identity)) then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', identity.status, 'allowed', private.identity_moderation(identity)),
      private.transition_sentence('identity', identity.status,
        private.identity_moderation(identity)));
  elsif version <> private.page_version(identity.id) then
    perform private.refuse(409, 'version_conflict');
  end if;
  if decision in ('approve', 'reject') and private.has_changes_to_decide(identity) then
    identity := private.decide_identity_changes(
      identity, decision = 'approve', reason, document_ids);
  else
    identity := private.apply_identity_decision(identity, case decision
      when 'reject' then 'rejected' when 'suspend' then 'suspended' else 'active' end, reason,
      document_ids);
  end if;
  return json_build_object('id', identity.id, 'kind', 'identity', 'status', identity.status,
    'decisions', private.identity_moderation(identity));
end
$$;

create function private.hide_messages(
  message public.messages, everywhere boolean, reason text
) returns bigint
  language plpgsql
  security definer -- changes other people's messages on an admin's behalf
  set search_path = ''
as $$
declare
  hidden bigint;
begin
  -- Sorted to avoid deadlocks, because hide_message locks the conversation of each message.
  perform private.audit('message.hidden', 'message', (same.message).id, reason),
    private.hide_message(same.message)
  from (
    select found.message from (
      select messages as message from public.messages
      where messages.conversation_id = message.conversation_id and messages.id = message.id
      union all
      select messages
      from public.media as picture
      join public.media as copies
        on copies.account_id = picture.account_id and copies.sha256 = picture.sha256
      join public.messages on messages.media_id = copies.id and messages.id <> message.id
      where hide_messages.everywhere and picture.id = message.media_id
    ) as found
    where (found.message).hidden_at is null
    order by (found.message).conversation_id, (found.message).id
  ) as same;
  get diagnostics hidden = row_count;
  return hidden;
end
$$;
comment on function private.hide_messages is
  'Hides a message. If everywhere is true, also hides all other messages of the sender with the '
  'same picture. Returns the number of messages that it hid.';

create function private.moderate_report(
  report public.reports, decision text, reason text, everywhere boolean
) returns json
  language plpgsql
  security definer -- updates someone else's data on an admin's behalf
  set search_path = ''
as $$
declare
  outcome constant text := case decision when 'uphold' then 'upheld' else 'dismissed' end;
begin
  if report.status <> 'open' or decision not in ('uphold', 'dismiss') then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', report.status,
      'allowed', case report.status when 'open' then '["uphold","dismiss"]' else '[]' end::jsonb),
      private.transition_sentence('report', report.status, '{}'));
  end if;
  if outcome = 'upheld' and report.target_type = 'message' and everywhere then
    perform private.hide_messages(messages, true, reason) from public.messages
    where messages.conversation_id = report.conversation_id and messages.id = report.target_id;
  end if;
  perform private.audit('report.status', 'report', report.id, reason,
    jsonb_build_object('status', report.status), jsonb_build_object('status', outcome));
  update public.reports set status = outcome, status_reason = moderate_report.reason
  where reports.id = report.id;
  return json_build_object('id', report.id, 'kind', 'report', 'status', outcome,
    'decisions', '[]'::json);
end
$$;

create function private.apply_report_decision() returns trigger
  language plpgsql
  security definer -- updates someone else's data on the deciding admin's behalf
  set search_path = ''
as $$
begin
  if new.status = 'upheld' and new.target_type = 'property' then
    perform private.audit('property.suspend', 'property', properties.id, new.status_reason,
        jsonb_build_object('status', properties.status)),
      private.suspend_property(properties.id, new.status_reason)
    from public.properties
    where properties.id = new.target_id
      and 'suspend' = any (private.property_decisions(properties));
  elsif new.status = 'upheld' and new.target_type = 'review' then
    perform private.audit('review.hidden', 'review', reviews.id, new.status_reason)
    from public.reviews where reviews.id = new.target_id and reviews.hidden_at is null;
    update public.reviews set hidden_at = now()
    where reviews.id = new.target_id and reviews.hidden_at is null;
  elsif new.status = 'upheld' and new.target_type = 'message' then
    perform private.hide_messages(messages, false, new.status_reason) from public.messages
    where messages.conversation_id = new.conversation_id and messages.id = new.target_id;
  end if;
  update public.reports set status = new.status, status_reason = new.status_reason
  where reports.target_type = new.target_type and reports.target_id = new.target_id
    and reports.status = 'open';
  return null;
end
$$;
comment on function private.apply_report_decision is
  'Applies the decision to all reports of the same target. Upholding suspends a listing, or hides '
  'a review or message.';

create trigger reports_apply_decisions
  after update of status on public.reports
  -- The trigger's own update of the other reports fires it again, with nothing left to do.
  for each row when (old.status <> new.status)
  execute function private.apply_report_decision();

create function private.lock_report(report_id uuid) returns public.reports
  language plpgsql
  security definer -- locks other people's reports, for an admin
  set search_path = ''
as $$
declare
  report public.reports;
begin
  select * into report from public.reports where reports.id = report_id;
  -- All reports of the same target are locked, so that a concurrent decision waits here.
  perform from public.reports
  where reports.target_type = report.target_type and reports.target_id = report.target_id
  order by reports.id
  for no key update;
  select * into report from public.reports where reports.id = report_id;
  return report;
end
$$;

create function private.lock_payout(payout_id uuid) returns public.wallet_payouts
  language plpgsql
  security definer -- locks payouts of deleted accounts, for an admin
  set search_path = ''
as $$
declare
  payout public.wallet_payouts;
begin
  select * into payout from public.wallet_payouts
  where wallet_payouts.id = payout_id
  for no key update;
  return payout;
end
$$;

create function private.moderate_payout(
  payout public.wallet_payouts, decision text, reason text, note text
) returns json
  language plpgsql
  security definer -- moves owed money, for an admin
  set search_path = ''
as $$
declare
  -- Line breaks in the note are replaced.
  why constant text := case decision when 'paid_out' then private.tidy(note, 500, 'note') else reason end;
begin
  if not decision = any (private.payout_decisions(payout)) then
    perform private.refuse(409, 'status_transition_invalid', jsonb_build_object(
      'from', payout.state, 'allowed', private.payout_decisions(payout)),
      private.transition_sentence('money', payout.state, private.payout_decisions(payout)));
  elsif decision = 'paid_out' and (char_length(why) between 2 and 500 and private.is_clean(why))
    is not true then
    perform private.refuse_field('note',
      coalesce(private.length_problem(coalesce(why, left(note, 0)), 2, 500), 'invalid'),
      fewest => 2, most => 500, by_hand =>
      'note is the reference of the transfer, 2 to 500 characters on one line.');
  end if;
  perform private.audit('payout.' || decision, 'payout', payout.id, why,
    jsonb_build_object('state', payout.state), jsonb_build_object('amount', payout.amount));
  perform private.decide_payout(payout, decision, why);
  return json_build_object('id', payout.id, 'kind', 'wallet_payout', 'status', decision,
    'decisions', '[]'::json);
end
$$;

create function private.decide_moderation(
  id uuid, decision text, reason text default null, version integer default null,
  document_ids uuid[] default null, note text default null, everywhere boolean default false
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  admin_id constant uuid := private.require_admin();
  why text;
  property public.properties;
  identity public.identities;
  report public.reports;
  payout public.wallet_payouts;
  decided json;
begin
  if decision in ('paid_out', 'written_off') then
    perform private.require_admin_proof();
  end if;
  if decision is null or decision not in ('approve', 'reject', 'suspend', 'restore', 'uphold',
    'dismiss', 'paid_out', 'written_off') then
    perform private.refuse_value('decision', decision);
  end if;
  -- These decisions require a reason; for all others a reason is optional.
  if reason is not null or decision in ('reject', 'suspend', 'uphold', 'written_off') then
    why := private.tidy_reason(reason);
  end if;
  payout := private.lock_payout(decide_moderation.id);
  if payout.id is not null then
    return private.moderate_payout(payout, decision, why, note);
  end if;
  report := private.lock_report(decide_moderation.id);
  if report.id is not null then
    if private.admin_report_json(report) -> 'target' ->> 'accountId' = admin_id::text then
      perform private.refuse(409, 'admin_self');
    end if;
    return private.moderate_report(report, decision, why, everywhere);
  end if;
  decided := private.moderate_duplicate(admin_id, decide_moderation.id, decision, why, version);
  if decided is not null then
    return decided;
  end if;
  identity := private.lock_identity_to_decide(decide_moderation.id, admin_id);
  if identity.id is not null then
    return private.moderate_identity(identity, decision, why, document_ids, version);
  end if;
  select * into property from public.properties
  where properties.id = decide_moderation.id and properties.status <> 'deleted';
  if property.id is null then
    perform private.refuse(404, 'not_found');
  elsif exists (
    select from public.identities
    where identities.id = property.owner_identity_id and identities.account_id = admin_id
  ) then
    perform private.refuse(409, 'admin_self');
  end if;
  return private.moderate_property(property, decision, why, version);
end
$$;
comment on function private.decide_moderation is
  'Api: For admins: approves or rejects an item of the queue, suspends or restores a listing or '
  'identity, upholds or dismisses a report (everywhere hides all messages of the sender with the '
  'same picture), suspends the later listing of a pair of duplicates or dismisses the pair, or '
  'pays out or writes off money of a deleted account. Paying out and writing off require a proof, '
  'which only the facade passes on. version: the version of the listing or page that the admin '
  'saw; document_ids: the documents of a waiting company or office that the admin saw. 403 '
  'admin_only, proof_required, 404 not_found, 409 admin_self, status_transition_invalid, '
  'version_conflict, documents_changed, licence_in_use, 422 licence_expired.';

grant execute on function private.decide_moderation to authenticated;
