-- Pushes: what waits to be sent to devices. functions/jobs drains it (push.ts), FCM delivers.
--
-- A row is one text for one device. It is leased for a minute while it is sent: after a crash in
-- that minute nobody knows whether it went out, so it is tried once more and then dropped. Newer
-- news of the same thing replace the text of a row that still waits.

create table private.push_outbox (
  id bigint generated always as identity primary key,
  account_id uuid not null,
  device_id text not null,
  notification_id uuid references public.notifications (id) on delete cascade,
  from_identity_id uuid,
  collapse_key text not null
    constraint push_outbox_collapse_key_length check (octet_length(collapse_key) <= 64),
  category text not null,
  title text not null,
  body text not null,
  data jsonb not null,
  exempt boolean not null,
  version integer not null default 1,
  due_at timestamptz not null,
  expires_at timestamptz not null,
  attempts integer not null default 0,
  lease uuid,
  lost integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  constraint push_outbox_device_fkey foreign key (account_id, device_id)
    references public.devices (account_id, device_id) on delete cascade,
  constraint push_outbox_once_key unique (account_id, device_id, collapse_key)
);
comment on table private.push_outbox is
  'Pushes that wait; a row goes when it was sent or given up.';
comment on column private.push_outbox.id is 'Its id.';
comment on column private.push_outbox.account_id is 'Whose device.';
comment on column private.push_outbox.device_id is
  'Which device: when it goes, or its token becomes another''s, so does the row.';
comment on column private.push_outbox.notification_id is
  'In the list too: read or deleted there, it is not sent any more.';
comment on column private.push_outbox.from_identity_id is
  'Whose words are in it, if anybody''s; see notifications.';
comment on column private.push_outbox.collapse_key is
  'What replaces what, here and on the device.';
comment on column private.push_outbox.category is 'Category of preferences; channel on Android.';
comment on column private.push_outbox.title is 'In the account''s language.';
comment on column private.push_outbox.body is 'In the account''s language.';
comment on column private.push_outbox.data is 'What the app opens; texts only.';
comment on column private.push_outbox.exempt is 'Quiet hours do not hold it back.';
comment on column private.push_outbox.version is 'Grows when newer news replace the text.';
comment on column private.push_outbox.due_at is
  'Not before: the end of quiet hours, of a lease, of a wait before the next try.';
comment on column private.push_outbox.expires_at is 'After that nobody needs it.';
comment on column private.push_outbox.attempts is 'How often it was tried.';
comment on column private.push_outbox.lease is 'Who is sending it now.';
comment on column private.push_outbox.lost is 'How often a lease ended without a word.';
comment on column private.push_outbox.created_at is 'When it was first queued.';
create index push_outbox_due_idx on private.push_outbox (due_at, id);
create index push_outbox_notification_idx on private.push_outbox (notification_id);
create index push_outbox_from_identity_idx on private.push_outbox (from_identity_id)
  where from_identity_id is not null;
alter table private.push_outbox enable row level security;
create policy "nobody but functions of their owner" on private.push_outbox using (false);

create function private.queue_push(
  made public.notifications, category text, collapses boolean, language text,
  chosen public.account_settings
) returns void
  language plpgsql
  security definer -- writes a closed table
  set search_path = ''
as $$
declare
  -- Somebody who gets into an account at night must not go unnoticed until the morning.
  exempt boolean := made.kind in ('security_login', 'security_password');
  due timestamptz := case when exempt then now()
    else private.after_quiet_hours(now(), chosen.quiet_from, chosen.quiet_to) end;
begin
  insert into private.push_outbox as waiting (account_id, device_id, notification_id,
    from_identity_id, collapse_key, category, title, body, data, exempt, due_at, expires_at)
  select
    devices.account_id, devices.device_id, made.id, made.from_identity_id,
    made.kind || ':' || case when collapses then made.entity_id else gen_random_uuid() end,
    queue_push.category,
    case language when 'en' then made.title_en else made.title_ar end,
    case language when 'en' then made.body_en else made.body_ar end,
    jsonb_strip_nulls(jsonb_build_object(
      'notificationId', made.id, 'kind', made.kind, 'route', made.route,
      'entityId', made.entity_id, 'identityId', made.identity_id)),
    exempt, due, due + interval '24 hours'
  from public.devices
  where devices.account_id = made.account_id
  order by devices.device_id
  on conflict on constraint push_outbox_once_key do update
  set notification_id = excluded.notification_id,
      from_identity_id = excluded.from_identity_id, title = excluded.title, body = excluded.body,
      data = excluded.data, version = waiting.version + 1, expires_at = excluded.expires_at;
end
$$;
comment on function private.queue_push is
  'Puts the text for each device of the account into the outbox, to be sent after quiet hours.';

create function private.apply_wishes(account_id uuid) returns void
  language plpgsql
  security definer -- writes a closed table, for the account that has changed its settings
  set search_path = ''
as $$
begin
  -- What is being written in this moment follows one of the two; nobody waits for it.
  with held as materialized (
    select push_outbox.id from private.push_outbox
    where push_outbox.account_id = apply_wishes.account_id and push_outbox.attempts = 0
    for update skip locked
  ), unwanted as (
    delete from private.push_outbox as waiting
    using held, public.account_settings as chosen
    where waiting.id = held.id and chosen.account_id = apply_wishes.account_id
      and not private.wants(chosen, waiting.category, 'push')
  )
  update private.push_outbox as waiting
  set due_at = private.after_quiet_hours(now(), chosen.quiet_from, chosen.quiet_to)
  from held, public.account_settings as chosen
  where waiting.id = held.id and chosen.account_id = apply_wishes.account_id
    and private.wants(chosen, waiting.category, 'push') and not waiting.exempt;
end
$$;
comment on function private.apply_wishes is
  'What waits follows settings that have changed: dropped, held back or let go.';

-- Draining ---------------------------------------------------------------------------------------

create function private.pushes_rest() returns boolean
  language sql
  stable
  security definer -- reads a closed table
  set search_path = ''
as $$
  select exists (
    select from private.moments
    where moments.name = 'pushes_rest' and moments.at > clock_timestamp())
$$;
comment on function private.pushes_rest is 'Whether FCM asked everybody to wait, whichever worker it told.';

create function private.rest_pushes(seconds integer) returns void
  language sql
  security definer -- writes a closed table
  set search_path = ''
as $$
  insert into private.moments as known (name, at)
  values ('pushes_rest', clock_timestamp() + make_interval(secs => rest_pushes.seconds))
  on conflict on constraint moments_pkey do update set at = greatest(known.at, excluded.at)
$$;
comment on function private.rest_pushes is 'No push is given out for so long.';

create function private.has_pushes() returns boolean
  language sql
  stable
  security definer -- looks into a closed table
  set search_path = ''
as $$
  select exists (select from private.push_outbox where push_outbox.due_at <= clock_timestamp())
    and not private.pushes_rest()
$$;
comment on function private.has_pushes is 'Whether a push is due and may be sent.';

create function private.drop_pushes() returns bigint
  language sql
  security definer -- writes a closed table
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
          or sessions.id is null
          or not private.may_act(accounts)
        )
      limit 1000
      for update of waiting skip locked
    ))
    returning 1
  )
  select count(*) from gone
$$;
comment on function private.drop_pushes is
  'Job: drops what nobody needs any more: too old, tried often enough, twice lost in a crash, read '
  'meanwhile, or of somebody who may not sign in or has signed out.';

create function private.claim_pushes(batch integer) returns json
  language plpgsql
  security definer -- reads and writes closed tables
  set search_path = ''
as $$
declare
  claim uuid := gen_random_uuid();
begin
  perform private.drop_pushes();
  if private.pushes_rest() then
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
      -- A lease that is still there ended without a word.
      lost = taken.lost + (taken.lease is not null)::integer
  from due where taken.id = due.id;

  return (
    select coalesce(json_agg(json_build_object(
      'id', taken.id,
      'lease', taken.lease,
      'version', taken.version,
      'attempts', taken.attempts,
      'token', devices.push_token,
      'collapseKey', taken.collapse_key,
      'category', taken.category,
      'title', taken.title,
      'body', taken.body,
      'data', taken.data,
      'badge', private.count_unread(taken.account_id),
      'expiresAt', extract(epoch from taken.expires_at)::bigint
    ) order by taken.id), '[]')
    from private.push_outbox as taken
    join public.devices
      on devices.account_id = taken.account_id and devices.device_id = taken.device_id
    where taken.lease = claim
  );
end
$$;
comment on function private.claim_pushes is
  'Leases due pushes for a minute to whoever calls; nobody else gets them meanwhile.';

create function private.finish_push(
  id bigint, lease uuid, version integer, outcome text, token text, wait integer default 0
) returns void
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
as $$
begin
  if outcome = 'dead' then
    -- The device goes with all that waits for it, unless it has another token by now.
    delete from public.devices where devices.push_token = finish_push.token;
  elsif outcome in ('sent', 'dropped') then
    delete from private.push_outbox as done
    where done.id = finish_push.id and done.version = finish_push.version;
    -- Newer news came while the old text was on its way: they are sent as well.
    update private.push_outbox as newer
    set lease = null, attempts = 0, lost = 0, due_at = clock_timestamp()
    where newer.id = finish_push.id and newer.version <> finish_push.version
      and newer.lease = finish_push.lease;
  else -- retry, wait: the latter was not sent at all and counts as no try
    update private.push_outbox as later
    set lease = null, due_at = clock_timestamp() + make_interval(secs => wait),
        attempts = later.attempts - (outcome = 'wait')::integer
    where later.id = finish_push.id and later.lease = finish_push.lease;
  end if;
end
$$;
comment on function private.finish_push is
  'What became of a leased push: sent, dropped (never to be sent), dead (no device has this '
  'token), retry or wait in so many seconds.';

revoke execute on all functions in schema private from public;
grant execute on function
  private.has_pushes, private.drop_pushes, private.claim_pushes, private.finish_push,
  private.rest_pushes
  to backend;
