-- Chat: messages of several callers in one transaction. Most of what one costs is the same for many.
-- The functions gather what comes at once (functions/_shared/store-message.ts).

create function private.send_messages(messages jsonb) returns json
  language plpgsql
  security definer -- for callers whose tokens the functions have verified; only they may call it
  set search_path = ''
  set lock_timeout = '100ms'
as $$
declare
  sent record;
  counted record;
  rate text;
  written record;
  deliveries private.message_delivery[] := '{}';
  refused_detail text;
  refused_hint text;
  answers json[] := array_fill(null::json, array[jsonb_array_length(messages)]);
begin
  -- As lock_identity and store_message find them, but waiting for nobody: a message whose account
  -- or conversation is locked stays without an answer, as does one whose sender may not act.
  for sent in
    select given.*, identities.id as identity_id
    from rows from (
      jsonb_to_recordset(messages) as (
        "accountId" uuid, "sessionId" uuid, "conversationId" uuid, "clientMessageId" text,
        body text
      )
    ) with ordinality as given (
      account_id, session_id, conversation_id, client_message_id, body, nth
    )
    join public.accounts on accounts.id = given.account_id
    join auth.sessions on sessions.user_id = accounts.id and sessions.id = given.session_id
    join public.identities
      on identities.account_id = accounts.id and identities.id = accounts.active_identity_id
    join public.participants on participants.conversation_id = given.conversation_id
      and participants.identity_id = identities.id
    join public.conversations on conversations.id = participants.conversation_id
    where private.may_act(accounts) and identities.status = 'active'
    order by given.nth
    for share of accounts skip locked
    for no key update of conversations skip locked
  loop
    begin
      counted := private.count_hit('messages', sent.account_id::text);
      rate := concat_ws(',', counted."limit", counted.remaining, counted.reset);
      if counted.hit is null then
        perform private.refuse_rate(rate);
      end if;
      written := private.store_message(sent.identity_id, sent.conversation_id,
        sent.client_message_id, 'text', sent.body, null, null);
      if written.created then
        deliveries := deliveries || written.delivery;
      else
        perform private.uncount_hit('messages', sent.account_id::text, counted.hit);
        rate := null;
      end if;
      answers[sent.nth] := json_build_object('rate', rate, 'answer', json_build_object(
        'created', written.created, 'message', (written.delivery).message_json));
    exception
      when lock_not_available or deadlock_detected then null;
      when others then
        get stacked diagnostics
          refused_detail = pg_exception_detail, refused_hint = pg_exception_hint;
        answers[sent.nth] := json_build_object('refused', json_build_object(
          'code', sqlstate, 'message', sqlerrm, 'detail', refused_detail, 'hint', refused_hint));
    end;
  end loop;
  perform private.deliver_messages(deliveries);
  return array_to_json(answers);
end
$$;
comment on function private.send_messages is
  'Sends texts of different accounts in different conversations. Gives for each, in their order, '
  '{answer, rate} as api.send_message does, {refused} with what that would raise, or null for one '
  'that must be sent by it.';

grant execute on function private.send_messages to backend;
