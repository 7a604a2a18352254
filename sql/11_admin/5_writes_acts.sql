-- A row of admin_acts is executed by the functions that the API routes use, or refused with an
-- explanation. No admin is signed in then, so the audit trail records the row's id and the admin in "by".

create function private.act_on_account(act public.admin_acts, account_id uuid) returns text
  language plpgsql
  security definer -- changes someone else's account on an admin's behalf
  set search_path = ''
as $$
begin
  if act.act = 'delete_account' then
    perform private.end_account(null, account_id, act.reason);
    return 'The account is deleted. This cannot be undone.';
  end if;
  if act.act = 'set_identifier' then
    if private.typed_identifier(act.value) is null then
      perform private.refuse_by_hand(
        'value is a Kuwaiti mobile number such as 50000001, or an email.');
    end if;
    perform private.set_contact(
      null, account_id, private.typed_identifier(act.value), false, act.reason);
    return 'It is proven. The password no longer works and all sessions have ended: the person chooses '
      '“Forgot password”.';
  end if;
  if act.act = 'open_payout' then
    return (
      select format('%s KWD go back to the payments that they came by, %s KWD wait in admin_payouts.',
        private.kwd_text(coalesce(sum(amount) filter (where state = 'at_provider'), 0)),
        private.kwd_text(coalesce(sum(amount) filter (where state = 'open'), 0)))
      from json_to_recordset(private.begin_payout(null, account_id, act.reason) -> 'items')
        as payouts (amount numeric, state text)
    );
  end if;
  if act.act = 'remove_passkeys' then
    return format('Passkeys removed: %s. The account proves by password or code, and adds new ones.',
      private.remove_passkeys(account_id, act.reason));
  end if;
  perform private.decide_account(null, account_id, case act.act
    when 'suspend_account' then 'suspended' when 'ban_account' then 'banned' else 'active' end,
    act.reason, act.until::timestamptz);
  return (
    select concat('The account is ', accounts.status,
      ' until ' || to_char(accounts.suspended_until at time zone 'Asia/Kuwait',
        'YYYY-MM-DD HH24:MI'), '.')
    from public.accounts where accounts.id = act_on_account.account_id
  );
end
$$;

create function private.act_on_listing(act public.admin_acts, property_id uuid) returns text
  language plpgsql
  security definer -- updates someone else's listing on an admin's behalf
  set search_path = ''
as $$
declare
  decision constant text := split_part(act.act, '_', 1);
  of_changes constant boolean := act.act like '%_changes';
  property public.properties;
  waits text;
begin
  select * into property from public.properties where properties.id = property_id;
  waits := case when property.status = 'pending_review' then 'listing'
    when property.pending_changes is not null then 'changes' else 'nothing' end;
  if decision in ('approve', 'reject')
    and (waits = 'nothing' or of_changes <> (waits = 'changes')) then
    perform private.refuse_by_hand(case waits
      when 'listing'
        then format('The listing itself waits, not changes of it: the act is %s.', decision)
      when 'changes'
        then format('Changes of it wait, not the listing itself: the act is %s_changes.', decision)
      else format('Neither it, which is %s, nor a change of it waits for a decision.',
        property.status) end);
  end if;
  perform private.moderate_property(property, decision, act.reason, act.version::integer);
  return (
    select concat('The listing KW-', properties.ref_no, ' is ', properties.status,
      case when of_changes then case decision
        when 'approve' then ', its changes are shown' else ', its changes are gone' end end, '.')
    from public.properties where properties.id = act_on_listing.property_id
  );
end
$$;

create function private.act_on_identity(act public.admin_acts, identity_id uuid) returns text
  language plpgsql
  security definer -- updates someone else's identity on an admin's behalf
  set search_path = ''
as $$
declare
  identity constant public.identities := private.lock_identity_to_decide(identity_id, null);
  document_ids constant uuid[] := private.document_ids(identity_id);
  papers constant integer := cardinality(document_ids);
  version constant integer := private.page_version(identity_id);
  decides constant boolean := act.act in ('verify_identity', 'reject_identity');
begin
  if decides and version <> coalesce(act.version::integer, case papers when 0 then version else 0 end)
  then
    perform private.refuse_by_hand(format('It has %s papers now: look at them (admin_documents) and '
      'at its page, and copy its version from admin_identities_to_verify.', papers));
  end if;
  return format('The identity is %s.', private.moderate_identity(identity,
    case act.act when 'verify_identity' then 'approve' else split_part(act.act, '_', 1) end,
    act.reason, case when decides then document_ids end, null) ->> 'status');
end
$$;
comment on function private.act_on_identity is
  'To verify or reject an identity with documents, the row must have the version shown in '
  'admin_identities_to_verify. Without documents, version is optional.';

create function private.act_on_message(act public.admin_acts, message_id uuid) returns text
  language plpgsql
  security definer -- changes other people's messages on an admin's behalf
  set search_path = ''
as $$
declare
  message constant public.messages := private.find_message(message_id);
  hidden bigint;
begin
  if (act.act = 'hide_message') = (message.hidden_at is not null)
    and act.everywhere is not true then
    perform private.refuse_by_hand(case act.act
      when 'hide_message' then 'It is hidden already.' else 'It is not hidden.' end);
  elsif act.act = 'restore_message' and message.hidden_at <= now() - interval '180 days' then
    perform private.refuse_by_hand(
      'It was hidden more than 180 days ago: what it said is deleted.');
  elsif act.act = 'hide_message' then
    hidden := private.hide_messages(message, act.everywhere, act.reason);
    return 'Neither side sees what it says.' || case when message.media_id is not null
      then ' Its picture is removed, which cannot be undone.' else '' end || case when act.everywhere
      then format(' Messages with the same picture that are hidden now: %s.', hidden) else '' end;
  end if;
  perform private.audit('message.shown', 'message', message_id, act.reason);
  perform private.show_message(message);
  return 'Both sides see it again.' || case when message.media_id is not null
    then ' Its picture does not come back.' else '' end;
end
$$;

create function private.do_act(act public.admin_acts, kind text, target_id uuid) returns text
  language plpgsql
  security definer -- changes other people's data, for any role that adds a row to admin_acts
  set search_path = ''
as $$
begin
  if act.reason is not null then
    act.reason := private.tidy_reason(act.reason);
  end if;
  case kind
    when 'account' then return private.act_on_account(act, target_id);
    when 'listing' then return private.act_on_listing(act, target_id);
    when 'message' then return private.act_on_message(act, target_id);
    when 'identity' then return private.act_on_identity(act, target_id);
    when 'report' then
      return format('The report is %s, with all others about the same.', private.moderate_report(
        private.lock_report(target_id), act.act, act.reason, act.everywhere) ->> 'status');
    when 'duplicate' then
      return format('The pair is decided: %s.', private.moderate_duplicate(
        null, target_id, split_part(act.act, '_', 1), act.reason, act.version::integer)
        ->> 'status');
    when 'payout' then
      return format('The money is %s. This cannot be undone.', replace(private.moderate_payout(
        private.lock_payout(target_id),
        case act.act when 'pay_out' then 'paid_out' else 'written_off' end, act.reason,
        act.note) ->> 'status', '_', ' '));
    else -- a refund of an invoice, or of a second payment of an invoice that was already paid
      perform private.make_refund(null, act.id, invoices.id, act.amount::numeric, act."to",
        act.reason, nullif(target_id, invoices.id), true)
      from public.invoices
      where invoices.id = coalesce(
        (select payments.invoice_id from public.payments where payments.id = target_id), target_id);
      return (
        select format('%s KWD to the %s%s. This cannot be undone.',
          private.kwd_text(refunds.amount), refunds.destination,
          case refunds.state when 'requested' then ', once its provider has answered' else '' end)
        from public.refunds where refunds.id = act.id
      );
  end case;
end
$$;

create function private.do_act_again(act public.admin_acts, kind text, target_id uuid) returns text
  language plpgsql security definer set search_path = ''
as $$
declare
  tries integer := 0;
begin
  loop
    begin
      return private.do_act(act, kind, target_id);
    exception
      when deadlock_detected or serialization_failure then
        -- Rolling this block back releases its locks. The facade retries requests in the same way.
        tries := tries + 1;
        if tries = 5 then
          raise;
        end if;
    end;
  end loop;
end
$$;

create function private.account_of_target(kind text, target_id uuid) returns uuid
  language plpgsql stable
  security definer -- reads other people's data, for an admin
  set search_path = ''
as $$
begin
  return case kind
    when 'account' then account_of_target.target_id
    when 'identity' then (
      select identities.account_id from public.identities
      where identities.id = account_of_target.target_id
    )
    when 'listing' then (
      select identities.account_id from public.properties
      join public.identities on identities.id = properties.owner_identity_id
      where properties.id = account_of_target.target_id
    )
    when 'duplicate' then (
      select identities.account_id from public.duplicates
      join public.properties on properties.id = duplicates.property_id
      join public.identities on identities.id = properties.owner_identity_id
      where duplicates.id = account_of_target.target_id
    )
    when 'message' then (
      select participants.account_id from private.find_message(account_of_target.target_id) as message
      join public.participants on participants.conversation_id = message.conversation_id
        and participants.identity_id = message.sender_identity_id
    )
    when 'report' then (
      select (private.admin_report_json(reports) -> 'target' ->> 'accountId')::uuid
      from public.reports where reports.id = account_of_target.target_id
    )
    when 'payout' then (
      select wallet_payouts.account_id from public.wallet_payouts
      where wallet_payouts.id = account_of_target.target_id
    )
    else (
      select invoices.account_id from public.invoices
      left join public.payments
        on payments.invoice_id = invoices.id and payments.id = account_of_target.target_id
      where invoices.id = account_of_target.target_id or payments.id is not null
    )
  end;
end
$$;

create function private.carry_out_act() returns trigger
  language plpgsql security definer set search_path = ''
as $$
declare
  kind public.admin_act_kinds;
  fits uuid[];
  state text;
  said text;
  detail text;
begin
  new.act := lower(private.typed(new.act));
  new."by" := private.typed(new."by");
  new.target := private.typed(new.target);
  new."to" := lower(private.typed(new."to"));
  new.value := private.typed(new.value);
  new.amount := round(private.typed_amount(new.amount), 3);
  new.until := private.day_text(private.typed_day(new.until));
  new.version := private.typed_version(new.version);
  new.reason := private.tidy(new.reason, 500, 'reason');
  new.note := nullif(btrim(new.note), '');
  select * into kind from public.admin_act_kinds where admin_act_kinds.act = new.act;
  if kind.act is null then
    perform private.refuse_by_hand('act is one of these: ' || (
      select string_agg(admin_act_kinds.act, ', ' order by admin_act_kinds.act)
      from public.admin_act_kinds
    ) || '.');
  end if;
  perform private.check_act(new, kind);
  new."by" := private.said_by(new."by");
  fits := private.find_target(kind.target, new.target);
  if cardinality(fits) <> 1 then
    perform private.refuse_by_hand(case fits
      when '{}' then format('No %s is found by "%s". %s needs %s.', kind.target, new.target,
        kind.act, kind.needs)
      else format('"%s" fits more than one %s: type the id, %s.', new.target, kind.target,
        array_to_string(fits, ' or ')) end);
  end if;
  new.target := fits[1];
  perform private.refuse_repeated_act(new);

  new.id := gen_random_uuid();
  new.created_at := clock_timestamp();
  new.account_id := private.account_of_target(kind.target, fits[1]);
  perform set_config('audit.act', new.id::text, true);
  perform set_config('audit.said', coalesce(new."by", ''), true);
  new.result := private.do_act_again(new, kind.target, fits[1]);
  perform set_config('audit.act', '', true);
  perform set_config('audit.said', '', true);
  new.value := null; -- the phone or email is stored in the account only
  new.state := case when exists (
    select from public.refunds where refunds.id = new.id and refunds.state = 'requested'
  ) then 'waiting' else 'done' end;
  new.done_at := case new.state when 'done' then clock_timestamp() end;
  return new;
exception
  when others then
    get stacked diagnostics
      state = returned_sqlstate, said = message_text, detail = pg_exception_detail;
    if state like 'PT%' and said ~ '^[a-z_]+$' then -- an error code of the contract
      raise exception using errcode = state, hint = said, message = format('Not done, %s%s.',
        replace(said, '_', ' '),
        ': ' || (select string_agg(concat_ws(' ', field ->> 'path', field ->> 'code'), ', ')
          from jsonb_path_query(detail::jsonb, '$.fields[*]') as field));
    end if;
    raise;
end
$$;
comment on function private.carry_out_act is
  'Executes the act and fills in the other columns of its row.';

create trigger acts_are_carried_out
  before insert on public.admin_acts
  for each row execute function private.carry_out_act();
