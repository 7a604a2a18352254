-- Notifications: what an account should hear of. Triggers of the areas make them
-- (13_notifications/6_events.sql), or the areas call private.notify; never the facade.
--
-- They belong to the account and name the identity that they are about. News of one thing that
-- come while the first are unread make one notification: it counts them and comes to the top.

-- As private.may_act (03_accounts/1_tables.sql) without a search_path: indexes and joins are planned by it. Who
-- changes the list makes notifications_one_unread_key anew, which holds only what it held then.
create function private.collapses(kind text) returns boolean
  language sql
  immutable
  parallel safe
  return kind in (
    'message_new', 'lead_new', 'favorite_price_drop', 'favorite_unavailable', 'listing_expiring'
  );
comment on function private.collapses is
  'Whether news of one thing are one unread notification, which counts them.';

create table public.notifications (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid references public.identities (id) on delete cascade,
  kind text not null,
  entity_id uuid,
  from_identity_id uuid references public.identities (id) on delete cascade,
  title_ar text not null
    constraint notifications_title_ar_length check (char_length(title_ar) between 1 and 200),
  body_ar text not null
    constraint notifications_body_ar_length check (char_length(body_ar) between 1 and 600),
  title_en text not null
    constraint notifications_title_en_length check (char_length(title_en) between 1 and 200),
  body_en text not null
    constraint notifications_body_en_length check (char_length(body_en) between 1 and 600),
  route text not null,
  times bigint not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  read_at timestamptz
);
comment on table public.notifications is 'What an account should hear of; kept for 180 days.';
comment on column public.notifications.id is 'Its id.';
comment on column public.notifications.account_id is 'Who is told.';
comment on column public.notifications.identity_id is
  'Which identity of the account it is about; null: the account itself.';
comment on column public.notifications.kind is 'One of private.notification_kinds.';
comment on column public.notifications.entity_id is
  'What it is about: a conversation, listing, invoice, identity, review, session.';
comment on column public.notifications.from_identity_id is
  'Whose words are in it, if anybody''s: it goes when that identity is closed for good.';
comment on column public.notifications.title_ar is 'Title in Arabic.';
comment on column public.notifications.body_ar is 'Body in Arabic.';
comment on column public.notifications.title_en is 'Title in English.';
comment on column public.notifications.body_en is 'Body in English.';
comment on column public.notifications.route is 'The screen that it opens, for entity_id.';
comment on column public.notifications.times is 'How many news it stands for.';
comment on column public.notifications.created_at is 'When the latest of them came.';
comment on column public.notifications.read_at is 'When it was read; null is unread.';

create index notifications_newest_idx
  on public.notifications (account_id, created_at desc, id desc);
-- Serves the unread ones as a list, and counting them without looking at the table.
create index notifications_unread_idx
  on public.notifications (account_id, created_at desc, id desc) where read_at is null;
create index notifications_created_idx on public.notifications (created_at);
create index notifications_identity_idx on public.notifications (identity_id);
create index notifications_from_identity_idx on public.notifications (from_identity_id)
  where from_identity_id is not null;
create unique index notifications_one_unread_key
  on public.notifications (account_id, kind, entity_id, identity_id)
  where read_at is null and private.collapses(kind);

-- Written by functions only: what somebody is told is nobody's to make up or change.
alter table public.notifications enable row level security;
revoke all on public.notifications from anon, authenticated;
grant select on public.notifications to authenticated;
create policy "people see their own notifications" on public.notifications
  for select to authenticated
  using (account_id = (select private.account_id()));

create function private.notification_record(notification public.notifications) returns jsonb
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return jsonb_build_object(
    'id', notification.id,
    'identityId', notification.identity_id,
    'kind', notification.kind,
    'titleAr', notification.title_ar,
    'bodyAr', notification.body_ar,
    'titleEn', notification.title_en,
    'bodyEn', notification.body_en,
    'data', jsonb_build_object(
      'route', notification.route, 'entityId', notification.entity_id),
    'createdAt', notification.created_at,
    'readAt', notification.read_at
  );
end
$$;
comment on function private.notification_record is 'A notification as its account sees it.';

create function private.count_unread(account_id uuid) returns bigint
  language plpgsql
  stable
  security definer -- counts for triggers, where nobody is calling
  set search_path = ''
as $$
begin
  return (
    select count(*) from public.notifications
    where notifications.account_id = count_unread.account_id and notifications.read_at is null
  );
end
$$;
comment on function private.count_unread is 'How many notifications of an account are unread.';

-- Making one -------------------------------------------------------------------------------------

create function private.notify(
  account_id uuid, identity_id uuid, kind text, entity_id uuid, facts jsonb default '{}',
  alone boolean default true
) returns uuid
  language plpgsql
  security definer -- for triggers and functions of the areas, whoever is calling
  set search_path = ''
as $$
declare
  known record;
  texts private.notification_text;
  made public.notifications;
begin
  if facts ? 'at' then
    -- A job tells it, which holds nothing of theirs: who is being deleted in this moment would keep it.
    perform from public.accounts where accounts.id = notify.account_id for share nowait;
  end if;
  loop
    -- One look and one write: this happens with every message.
    select kinds.*, accounts.language, accounts.status, account_settings as chosen,
      unread.id as unread_id, coalesce(unread.times, 0) as times
    into strict known
    from private.notification_kinds as kinds
    left join public.accounts on accounts.id = notify.account_id
    left join public.account_settings on account_settings.account_id = accounts.id
    left join public.notifications as unread on kinds.collapses
      and unread.account_id = accounts.id and unread.kind = notify.kind
      and unread.entity_id = notify.entity_id
      and unread.identity_id is not distinct from notify.identity_id
      and unread.read_at is null and private.collapses(unread.kind)
    where kinds.kind = notify.kind;
    if coalesce(known.status, 'deleted') in ('banned', 'deleted') then
      return null;
    end if;

    texts := private.notification_texts(known.kind, known.category, facts, known.times + 1);
    made.created_at := coalesce((facts ->> 'at')::timestamptz, clock_timestamp());
    made.account_id := notify.account_id;
    made.identity_id := notify.identity_id;
    made.kind := known.kind;
    made.entity_id := notify.entity_id;
    made.from_identity_id := facts ->> 'from';
    made.title_ar := left(texts.title_ar, 200);
    made.body_ar := left(texts.body_ar, 600);
    made.title_en := left(texts.title_en, 200);
    made.body_en := left(texts.body_en, 600);
    made.route := coalesce(case known.kind when 'system' then facts ->> 'route' end, known.route);
    exit when not private.wants(known.chosen, known.category, 'inApp');

    if known.unread_id is not null then
      update public.notifications
      set title_ar = made.title_ar, body_ar = made.body_ar, title_en = made.title_en,
          body_en = made.body_en, from_identity_id = made.from_identity_id,
          times = notifications.times + 1,
          created_at = greatest(notifications.created_at, made.created_at)
      where notifications.id = known.unread_id and notifications.times = known.times
        and notifications.read_at is null
      returning * into made;
    else
      insert into public.notifications (account_id, identity_id, kind, entity_id, from_identity_id,
        title_ar, body_ar, title_en, body_en, route, created_at)
      values (made.account_id, made.identity_id, made.kind, made.entity_id, made.from_identity_id,
        made.title_ar, made.body_ar, made.title_en, made.body_en, made.route, made.created_at)
      on conflict do nothing
      returning * into made;
    end if;
    -- Otherwise somebody counted it up, read it or made it in this moment: a new look.
    continue when not found;
    if alone then
      perform private.tell_account(notify.account_id, 'notification',
        jsonb_build_object(
          'identityId', made.identity_id,
          'notification', private.notification_record(made),
          'unread', private.count_unread(notify.account_id)));
    end if;
    exit;
  end loop;
  if private.wants(known.chosen, known.category, 'push') then
    perform private.queue_push(
      made, known.category, known.collapses, known.language, known.chosen);
  end if;
  return made.id;
exception
  -- Whoever did something must not fail because somebody else could not be told. What was locked is
  -- told later (13_notifications/7_jobs.sql).
  when deadlock_detected or serialization_failure or lock_not_available then
    insert into private.late_notices (account_id, identity_id, kind, entity_id, facts)
    values (notify.account_id, notify.identity_id, notify.kind, notify.entity_id, notify.facts);
    return null;
  when others then
    raise warning 'notification % of % was not made: % %',
      notify.kind, notify.account_id, sqlstate, sqlerrm;
    return null;
end
$$;
comment on function private.notify is
  'Tells an account of something as it wants: in the list and live, as a push, both or neither. '
  'Within the transaction that did it, which it never makes fail. The facts of each kind stand in '
  '13_notifications/3_records_texts.sql; from is the identity whose words they are, at when it happened if a job '
  'tells it later. Gives its id in the list, null for none; not alone: whoever calls tells of it.';

revoke execute on all functions in schema private from public;
grant execute on function private.notification_record to authenticated;
