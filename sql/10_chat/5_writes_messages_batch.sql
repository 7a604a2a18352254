-- Storing many texts costs little more than storing one, so functions/_shared/chat/store-message.ts
-- collects texts that are sent concurrently. A text that would have to wait for a lock, is refused or
-- was already stored is left to api.send_message.

create type private.sent_text as (
  nth bigint, account_id uuid, session_id uuid, conversation_id uuid, client_message_id text,
  body text, hits jsonb, rate text
);

create function private.count_texts(messages jsonb) returns private.sent_text[]
  language plpgsql set search_path = ''
as $$
begin
  return array(
    select row(given.nth, given.account_id, given.session_id, given.conversation_id,
      given.client_message_id, private.trimmed_message(given.body), counted.hits,
      concat_ws(',', counted."limit", counted.remaining, counted.reset))::private.sent_text
    from (
      -- Sorted, so that concurrent calls of this function do not deadlock on the rows of rates.
      select sent.*
      from rows from (
        jsonb_to_recordset(messages) as (
          "accountId" uuid, "sessionId" uuid, "conversationId" uuid, "clientMessageId" text,
          body text
        )
      ) with ordinality as sent (
        account_id, session_id, conversation_id, client_message_id, body, nth
      )
      order by sent.account_id
    ) as given
    cross join lateral private.count_hits('{messages,messages_day}',
      array[given.account_id::text, given.account_id::text]) as counted
    where counted.refused is null
  );
end
$$;

create function private.lock_texts(texts private.sent_text[]) returns private.sent_message[]
  language plpgsql set search_path = ''
  set join_collapse_limit = 1 -- private.store_messages explains both settings
  set plan_cache_mode = 'force_generic_plan'
as $$
declare
  required_terms constant text := (
    select terms.version from private.terms() as terms where terms.required_from <= now()
  );
  -- During maintenance, all texts are left to api.send_message, which lets administrators write.
  is_closed constant boolean := private.setting('maintenance') <> 'null';
begin
  -- This locks and checks the same rows as lock_identity and write_message, but does not wait for locks.
  return array(
    select row(conversations.id, accounts.active_identity_id, sent.client_message_id, 'text',
      sent.body, null, null)::private.sent_message
    from unnest(texts) as sent
    join public.accounts on accounts.id = sent.account_id
    join auth.sessions on sessions.user_id = accounts.id and sessions.id = sent.session_id
    join public.participants on participants.conversation_id = sent.conversation_id
      and participants.identity_id = accounts.active_identity_id
    join public.conversations on conversations.id = participants.conversation_id
    where is_closed is not true
      and private.may_act(accounts)
      and (required_terms is null or accounts.terms_version = required_terms)
      and private.message_problem('text', sent.body) is null
    for share of accounts skip locked
    for no key update of conversations skip locked
  );
end
$$;

create function private.send_messages(messages jsonb) returns json
  language plpgsql
  security definer -- acts for accounts whose tokens the edge functions have verified
  set search_path = '' set lock_timeout = '100ms'
as $$
declare
  -- Rates are counted before all other locks (03_accounts/2_rules_locks.sql).
  counted private.sent_text[] := private.count_texts(messages);
  deliveries private.message_delivery[] := private.store_messages(private.lock_texts(counted));
begin
  if cardinality(counted) > coalesce(cardinality(deliveries), 0) then
    perform private.uncount_hits(sent.hits)
    from unnest(counted) as sent
    where not exists (
      select from unnest(deliveries) as delivery
      where (delivery.message).conversation_id = sent.conversation_id
        and (delivery.message).client_message_id = sent.client_message_id
    );
  end if;
  if deliveries is not null then
    perform private.deliver_messages(deliveries);
  end if;
  return (
    select json_agg(
      case when delivery.message_json is not null then json_build_object(
        'rate', sent.rate,
        'answer', json_build_object('created', true, 'message', delivery.message_json)::text)
      end
      order by series.nth)
    from generate_series(1, jsonb_array_length(messages)) as series (nth)
    left join unnest(counted) as sent on sent.nth = series.nth
    left join unnest(deliveries) as delivery
      on (delivery.message).conversation_id = sent.conversation_id
      and (delivery.message).client_message_id = sent.client_message_id
  );
end
$$;
comment on function private.send_messages is
  'Stores texts of several accounts. Returns {answer, rate} for each text, in the same order, or '
  'null for a text that must be sent with api.send_message.';

grant execute on function private.send_messages to backend;
