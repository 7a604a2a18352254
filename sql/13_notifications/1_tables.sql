-- Notifications: what an account should hear of. Triggers of the areas make them (6_events_*.sql),
-- or the areas call private.notify; never the facade.
--
-- They belong to the account and name the identity that they are about. Of some kinds, events of
-- one thing that come while the first is unread make one notification: it counts them and comes to
-- the top.

-- As private.may_act (03_accounts/2_rules_access.sql) without a search_path: indexes and joins are
-- planned by it. Whoever changes the list rebuilds notifications_one_unread_key, which keeps what
-- it held then.
create function private.collapses(kind text) returns boolean
  language sql
  immutable
  parallel safe
  return kind in (
    'message_new', 'lead_new', 'favorite_price_drop', 'favorite_unavailable', 'listing_expiring'
  );
comment on function private.collapses is
  'Whether events of one thing make one unread notification, which counts them.';

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
comment on table public.notifications is
  'What an account was notified of; kept for 180 days. Cleaned by private.purge_notifications.';
comment on column public.notifications.identity_id is
  'Which identity of the account it is about; null: the account itself.';
comment on column public.notifications.kind is 'One of private.notification_kinds.';
comment on column public.notifications.entity_id is
  'What it is about: a conversation, listing, invoice, identity, review, session.';
comment on column public.notifications.from_identity_id is
  'Whose words it quotes, if anybody''s: it is deleted when that identity is closed.';
comment on column public.notifications.route is 'The screen that it opens, for entity_id.';
comment on column public.notifications.times is 'How many events it stands for.';
comment on column public.notifications.created_at is 'When the latest of them happened.';

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

-- Written by functions only.
alter table public.notifications enable row level security;
revoke all on public.notifications from anon, authenticated;
grant select on public.notifications to authenticated;
create policy "people see their own notifications" on public.notifications
  for select to authenticated
  using (account_id = (select private.account_id()));
