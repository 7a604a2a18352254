create function private.are_pushes_paused() returns boolean
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select exists (
    select from private.timestamps
    where timestamps.name = 'pushes_paused' and timestamps.at > clock_timestamp())
$$;

create function private.pause_pushes(seconds integer) returns void
  language sql
  security definer
  set search_path = ''
as $$
  insert into private.timestamps as known (name, at)
  values ('pushes_paused', clock_timestamp() + make_interval(secs => pause_pushes.seconds))
  on conflict on constraint timestamps_pkey do update set at = greatest(known.at, excluded.at)
$$;

create function private.has_pushes() returns boolean
  language sql
  stable
  security definer
  set search_path = ''
as $$
  select exists (select from private.push_outbox where push_outbox.due_at <= clock_timestamp())
    and not private.are_pushes_paused()
$$;

create function private.drop_pushes() returns bigint
  language sql
  security definer
  set search_path = ''
as $$
  with gone as (
    delete from private.push_outbox where push_outbox.ctid = any (array(
      select waiting.ctid from private.push_outbox as waiting
      join public.accounts on accounts.id = waiting.account_id
      join public.devices
        on devices.account_id = waiting.account_id and devices.device_id = waiting.device_id
      left join auth.sessions on sessions.id = devices.session_id
      left join public.notifications on notifications.id = waiting.notification_id
      where waiting.due_at <= clock_timestamp()
        and (
          waiting.expires_at < now() or waiting.attempts >= 8
          or waiting.lease is not null and waiting.lost >= 1
          or notifications.read_at is not null
          or waiting.collapse_key like 'messages_waiting:%' and not exists (
            select from public.notifications as unread
            where unread.account_id = waiting.account_id and unread.kind = 'message_new'
              and unread.read_at is null
          )
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
  'Job: drops pushes that are expired, read, tried 8 times or lost in two crashes, those that '
  'quote a blocked identity, and those for signed-out devices or accounts that may not act.';

create function private.waiting_push(
  push private.push_outbox, out title text, out body text, out data jsonb
)
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  unread constant bigint := (
    select sum(notifications.times) from public.notifications
    where notifications.account_id = push.account_id and notifications.kind = 'message_new'
      and notifications.read_at is null
  );
  waiting constant bigint := greatest(1, least(unread, (push.data ->> 'count')::bigint));
begin
  select texts.title, texts.body into title, body
  from public.accounts
  cross join lateral private.waiting_text(accounts.language, waiting) as texts
  where accounts.id = push.account_id;
  data := push.data || jsonb_build_object('count', waiting::text);
end
$$;
comment on function private.waiting_push is
  'Makes the text of a push about waiting messages when it is sent. The text counts at most the '
  'messages that are unread then.';

create function private.claim_pushes(batch integer) returns json
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
  claim uuid := gen_random_uuid();
begin
  perform private.drop_pushes();
  if private.are_pushes_paused() then
    return '[]';
  end if;
  with due as materialized (
    select push_outbox.id from private.push_outbox
    where push_outbox.due_at <= clock_timestamp()
    order by push_outbox.due_at, push_outbox.id
    limit claim_pushes.batch
    for update skip locked
  )
  update private.push_outbox as taken
  set lease = claim, due_at = clock_timestamp() + interval '60 seconds',
      attempts = taken.attempts + 1,
      -- A row that still has a lease was claimed before, and nobody knows whether it was sent.
      lost = taken.lost + (taken.lease is not null)::integer
  from due where taken.id = due.id;

  return (
    select coalesce(json_agg(json_build_object(
      'id', taken.id,
      'lease', taken.lease,
      'version', taken.version,
      'attempts', taken.attempts,
      'token', devices.push_token,
      'collapseKey', case when summary.body is null then taken.collapse_key else 'messages_waiting' end,
      'category', taken.category,
      'title', coalesce(summary.title, taken.title),
      'body', coalesce(summary.body, taken.body),
      'data', coalesce(summary.data, taken.data),
      'badge', private.count_unread(taken.account_id),
      'silent', taken.category = 'badge',
      'expiresAt', extract(epoch from taken.expires_at)::bigint
    ) order by taken.id), '[]')
    from private.push_outbox as taken
    join public.devices
      on devices.account_id = taken.account_id and devices.device_id = taken.device_id
    left join lateral (
      select waiting.* from private.waiting_push(taken) as waiting
      where taken.collapse_key like 'messages_waiting:%'
    ) as summary on true
    where taken.lease = claim
  );
end
$$;

create function private.finish_push(
  id bigint, lease uuid, version integer, outcome text, token text, wait integer default 0
) returns void
  language plpgsql
  security definer
  set search_path = ''
as $$
declare
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
  end if;
  if outcome = 'dead' or answers >= 3 then
    -- The device is deleted with its waiting pushes, unless it has another token by now.
    delete from public.devices where devices.push_token = finish_push.token;
  elsif outcome in ('sent', 'dropped') then
    delete from private.push_outbox as done
    where done.id = finish_push.id and done.version = finish_push.version;
    -- A newer text was queued while the old one was sent, so it is sent as well, a newer badge after
    -- the ten minutes of queue_badge.
    update private.push_outbox as newer
    set lease = null, attempts = 0, lost = 0, due_at = clock_timestamp()
          + case when newer.category = 'badge' then interval '10 minutes' else interval '0' end
    where newer.id = finish_push.id and newer.version <> finish_push.version
      and newer.lease = finish_push.lease;
  else -- retry, unknown or wait; a wait does not count as an attempt
    update private.push_outbox as later
    set lease = null, due_at = clock_timestamp() + make_interval(secs => wait),
        attempts = later.attempts - (outcome = 'wait')::integer
    where later.id = finish_push.id and later.lease = finish_push.lease;
  end if;
end
$$;
comment on function private.finish_push is
  'Outcomes: sent, dropped (can never be sent), dead (FCM rejects the token), unknown (FCM has not '
  'heard of it; dead after three in a row), retry or wait.';

grant execute on function
  private.pause_pushes, private.has_pushes, private.drop_pushes, private.claim_pushes,
  private.finish_push
  to backend;
