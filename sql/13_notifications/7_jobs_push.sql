create function private.are_pushes_paused() returns boolean
  language sql stable security definer set search_path = ''
as $$
  select exists (
    select from private.timestamps
    where timestamps.name = 'pushes_paused' and timestamps.at > clock_timestamp())
$$;

create function private.pause_pushes(seconds integer) returns void
  language sql security definer set search_path = ''
as $$
  insert into private.timestamps as known (name, at)
  values ('pushes_paused', clock_timestamp() + make_interval(secs => pause_pushes.seconds))
  on conflict on constraint timestamps_pkey do update set at = greatest(known.at, excluded.at)
$$;

create function private.has_pushes() returns boolean
  language sql stable security definer set search_path = ''
as $$
  select exists (select from private.push_outbox where push_outbox.due_at <= clock_timestamp())
    and not private.are_pushes_paused()
$$;

create function private.drop_pushes() returns bigint
  language sql security definer set search_path = ''
as $$
  with gone as (
    delete from private.push_outbox where push_outbox.ctid = any (array(
      select waiting.ctid from private.push_outbox as waiting
      join public.accounts on accounts.id = waiting.account_id
      join public.devices
        on devices.account_id = waiting.account_id and devices.device_id = waiting.device_id
      left join public.account_settings as chosen on chosen.account_id = waiting.account_id
      left join auth.sessions on sessions.id = devices.session_id
      where waiting.due_at <= clock_timestamp()
        and (
          waiting.expires_at < now() or waiting.attempts >= 8
          or waiting.lease is not null and (
            waiting.lost >= 1 or exists (
              select from private.push_outbox as newer
              where newer.account_id = waiting.account_id and newer.device_id = waiting.device_id
                and newer.collapse_key = waiting.collapse_key and newer.lease is null
            )
          )
          or private.was_read(waiting)
          or not private.wants(chosen, waiting.category, 'push')
          or sessions.id is null
          or not private.may_act(accounts)
          or private.are_blocked(waiting.account_id, (
            select identities.account_id from public.identities
            where identities.id = waiting.from_identity_id
          ))
        )
      limit 1000
      for update of waiting skip locked
    ))
    returning 1
  )
  select count(*) from gone
$$;
comment on function private.drop_pushes is
  'Job: deletes pushes that have expired, were read, failed 8 times, were lost in two crashes (one '
  'crash if a newer push waits), quote a blocked identity or are switched off, and pushes to '
  'devices that are signed out or accounts that may not act.';

create function private.hold_in_quiet_hours() returns void
  language sql set search_path = ''
as $$
  update private.push_outbox as held
  set due_at = private.after_quiet_hours(now(), chosen.quiet_from, chosen.quiet_to)
  from public.account_settings as chosen
  where chosen.account_id = held.account_id and held.id in (
    select due.id from private.push_outbox as due
    join public.account_settings as asleep on asleep.account_id = due.account_id
    where due.due_at <= clock_timestamp() and not due.exempt and asleep.quiet_from is not null
      and private.after_quiet_hours(now(), asleep.quiet_from, asleep.quiet_to) > now()
    for update of due skip locked
  )
$$;
comment on function private.hold_in_quiet_hours is
  'Postpones pushes that were due before quiet hours but were not sent in time, because they '
  'failed, all pushes were paused, or the job did not run.';

create function private.message_push(
  push private.push_outbox, out title text, out body text, out data jsonb
)
  language plpgsql stable set search_path = ''
as $$
declare
  language constant text := (
    select accounts.language from public.accounts where accounts.id = push.account_id
  );
  unread bigint;
  texts private.notification_text;
begin
  data := push.data;
  select sum(participants.unread) into unread from public.participants
  where participants.conversation_id = any (push.conversation_ids)
    and participants.account_id = push.account_id and private.awaits_reading(participants);
  if unread is null then
    return;
  elsif push.identity_id is not null then
    texts := (private.unread_messages(push.conversation_ids[1], push.identity_id)).texts;
    title := case language when 'en' then texts.title_en else texts.title_ar end;
    body := case language when 'en' then texts.body_en else texts.body_ar end;
  else
    unread := least(unread, (data ->> 'count')::bigint);
    select said.title, said.body into title, body
    from private.waiting_text(language, unread) as said;
    data := data || jsonb_build_object('count', unread::text);
  end if;
end
$$;
comment on function private.message_push is
  'Makes the text of a push for messages when it is sent, from the messages that are still unread; '
  'null if none is unread. For a push about waiting messages, the text is the number of messages '
  'that were not pushed individually.';

create function private.still_holds(push private.push_outbox) returns boolean
  language plpgsql stable set search_path = ''
as $$
declare
  kind constant text := push.data ->> 'kind';
  property public.properties;
begin
  if kind not in (
    'favorite_price_drop', 'favorite_unavailable', 'listing_expiring', 'listing_expired'
  ) then
    return true;
  end if;
  select * into property from public.properties
  where properties.id = (push.data ->> 'entityId')::uuid;
  return coalesce(case
    when kind = 'favorite_price_drop'
      then property.listed and property.price <= (push.details ->> 'price')::numeric
    when kind = 'listing_expiring'
      then property.listed and property.expires_at <= now() + interval '7 days'
    when kind = 'listing_expired' then property.status = 'expired'
    when push.details ->> 'status' = 'active' then property.listed
    else property.status <> 'active' and (not push.details ? 'titleAr'
      or not private.is_withdrawn(property) and private.shown_title(property, null) is not null)
    end, false);
end
$$;
comment on function private.still_holds is
  'Whether a push about a listing still agrees with it: the price, whether it is offered, and its '
  'expiry. False if the push quotes a title that may no longer be shown.';

create function private.badge(account_id uuid) returns bigint
  language plpgsql stable set search_path = ''
as $$
begin
  return private.count_unread(account_id) + (
    select count(*) from public.account_settings as chosen
    join public.identities on identities.account_id = chosen.account_id
    join public.participants on participants.identity_id = identities.id
    where chosen.account_id = badge.account_id and not private.wants(chosen, 'messages', 'inApp')
      and participants.unread > 0 and not participants.archived
      and private.awaits_reading(participants) and not exists (
        select from public.notifications
        where notifications.account_id = badge.account_id and notifications.kind = 'message_new'
          and notifications.entity_id = participants.conversation_id
          and notifications.identity_id = participants.identity_id
          and notifications.read_at is null
      )
  );
end
$$;
comment on function private.badge is
  'The number on the app icon: unread notifications plus, if messages create no notifications, '
  'unread conversations.';

create function private.claim_pushes(batch integer) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  claim uuid := gen_random_uuid();
  pushes json;
begin
  perform private.drop_pushes();
  if private.are_pushes_paused() then
    return '[]';
  end if;
  perform private.hold_in_quiet_hours();
  with due as materialized (
    select push_outbox.id from private.push_outbox
    where push_outbox.due_at <= clock_timestamp() and not exists (
      select from private.push_outbox as sending
      where sending.account_id = push_outbox.account_id
        and sending.device_id = push_outbox.device_id
        and sending.collapse_key = push_outbox.collapse_key
        and sending.lease is not null and sending.id < push_outbox.id
    )
    order by push_outbox.due_at, push_outbox.id
    limit claim_pushes.batch
    for update skip locked
  )
  update private.push_outbox as taken
  set lease = claim, due_at = clock_timestamp() + interval '60 seconds',
      attempts = taken.attempts + 1,
      -- If the row still has a lease, an earlier attempt ended without a result: it may have been sent.
      lost = taken.lost + (taken.lease is not null)::integer
  from due where taken.id = due.id;

  with claimed as materialized (
    select taken.*, devices.push_token, made.title as made_title, made.body as made_body,
      coalesce(made.data, taken.data) as made_data,
      taken.category = 'messages' and made.body is null or not private.still_holds(taken) as is_over
    from private.push_outbox as taken
    join public.devices
      on devices.account_id = taken.account_id and devices.device_id = taken.device_id
    left join lateral (
      select pushed.* from private.message_push(taken) as pushed
      where taken.category = 'messages'
    ) as made on true
    where taken.lease = claim
  ), gone as (
    -- These were read after drop_pushes ran, or no longer agree with their listing.
    delete from private.push_outbox
    where push_outbox.id in (select claimed.id from claimed where claimed.is_over)
  )
  select coalesce(json_agg(json_build_object(
    'id', claimed.id,
    'lease', claimed.lease,
    'attempts', claimed.attempts,
    'token', claimed.push_token,
    'collapseKey', claimed.collapse_key,
    'category', claimed.category,
    'title', coalesce(claimed.made_title, claimed.title),
    'body', coalesce(claimed.made_body, claimed.body),
    'data', claimed.made_data,
    'badge', private.badge(claimed.account_id),
    'silent', claimed.category = 'badge',
    'expiresAt', extract(epoch from claimed.expires_at)::bigint
  ) order by claimed.id), '[]') into pushes
  from claimed where not claimed.is_over;
  return pushes;
end
$$;

create function private.count_push(id bigint) returns void
  language plpgsql set search_path = ''
as $$
declare
  push private.push_outbox;
  rule record;
begin
  select * into push from private.push_outbox where push_outbox.id = count_push.id;
  if push.author_id is null and push.collapse_key <> 'messages_waiting' then
    return; -- no rate limits this push
  end if;
  -- rate_hits is locked before push_outbox, as in queue_push. The push may already have been counted when
  -- another device received it.
  for rule in
    select rules.name, rules.subject
    from (values
      (1, 'pushes_strangers', push.account_id::text, push.is_stranger),
      (2, case push.category when 'messages' then 'pushes_messages' else 'pushes' end,
        push.author_id || ' ' || push.account_id, push.author_id is not null),
      (3, 'pushes_waiting', push.account_id::text, push.collapse_key = 'messages_waiting')
    ) as rules (position, name, subject, counts)
    join private.rates on rates.rule = rules.name and rates.max < 1000000
    where rules.counts
    order by rules.position
  loop
    perform private.hold_hits(rule.name, array[rule.subject]);
    if exists (
      select from private.push_outbox where push_outbox.id = push.id and not push_outbox.counted
    ) then
      perform private.store_hit(rule.name, rule.subject);
    end if;
  end loop;
  update private.push_outbox set counted = true
  where push_outbox.id in (
    select sent.id from private.push_outbox as sent
    where sent.account_id = push.account_id and sent.push_id = push.push_id and not sent.counted
    order by sent.device_id, sent.collapse_key, sent.id
    for update
  );
end
$$;
comment on function private.count_push is
  'Counts a push towards its rates when the first device of the account has received it.';

create function private.try_push_later(
  id bigint, lease uuid, outcome text, wait integer, held_until timestamptz
) returns void
  language plpgsql set search_path = ''
as $$
begin
  update private.push_outbox as later
  set lease = null, attempts = later.attempts - (outcome = 'wait')::integer,
      due_at = greatest(
        clock_timestamp() + make_interval(secs => wait), try_push_later.held_until),
      held_until = try_push_later.held_until
  where later.id = try_push_later.id and later.lease = try_push_later.lease;
exception
  when unique_violation then
    -- A newer push was queued in the meantime and replaces the failed one. It is sent as soon as FCM accepts
    -- pushes again. If it gives a number of messages, it takes over the count and the due time of the failed
    -- push.
    with replaced as (
      delete from private.push_outbox where push_outbox.id = try_push_later.id
      returning push_outbox.*
    )
    update private.push_outbox as newer
    set held_until = try_push_later.held_until,
        due_at = case newer.collapse_key when 'messages_waiting'
          then greatest(
            clock_timestamp() + make_interval(secs => wait), try_push_later.held_until)
          else greatest(newer.due_at, try_push_later.held_until) end,
        conversation_ids = newer.conversation_ids || replaced.conversation_ids,
        data = newer.data || case newer.collapse_key when 'messages_waiting'
          then jsonb_build_object('count', (
            (newer.data ->> 'count')::bigint + (replaced.data ->> 'count')::bigint)::text)
          else '{}' end
    from replaced
    where newer.account_id = replaced.account_id and newer.device_id = replaced.device_id
      and newer.collapse_key = replaced.collapse_key and newer.lease is null;
end
$$;

create function private.finish_push(
  id bigint, lease uuid, outcome text, token text, wait integer default 0, held integer default 0
) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  until constant timestamptz := clock_timestamp() + make_interval(secs => held);
  answers smallint;
begin
  if outcome in ('dead', 'unknown') then
    perform private.lock_devices(array(
      select devices.account_id from public.devices where devices.push_token = finish_push.token));
    update public.devices set unknown_answers = devices.unknown_answers + 1
    where devices.push_token = finish_push.token
    returning devices.unknown_answers into answers;
  elsif outcome = 'sent' then
    update public.devices set unknown_answers = 0
    where devices.push_token = finish_push.token and devices.unknown_answers > 0;
    perform private.count_push(id);
  end if;
  if outcome = 'dead' or answers >= 3 then
    -- Deletes the device and its waiting pushes, unless it has registered a new token.
    delete from public.devices where devices.push_token = finish_push.token;
  elsif outcome in ('sent', 'dropped') then
    -- If the lease has ended, the row may contain a newer push by now.
    delete from private.push_outbox
    where push_outbox.id = finish_push.id and push_outbox.lease = finish_push.lease;
  else
    perform private.try_push_later(id, lease, outcome, wait, until);
  end if;
end
$$;
comment on function private.finish_push is
  'Records the outcome of a push: sent, dropped (can never be sent), dead (FCM rejects the token), '
  'unknown (FCM does not know the token; the third time in a row counts as dead), retry, or wait '
  '(not attempted). The next attempt is after wait seconds. If the push is updated, the next '
  'attempt is after the held seconds that FCM asked for.';

grant execute on function
  private.pause_pushes, private.has_pushes, private.drop_pushes, private.claim_pushes,
  private.finish_push
  to backend;
