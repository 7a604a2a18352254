-- Notifications are created by triggers (6_events_*.sql) and private.notify. If a kind collapses, a later
-- event does not create another notification: it increments the count of the unread one about the same
-- thing, which moves to the top.

create table public.notifications (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid references public.identities (id) on delete cascade,
  kind text not null,
  collapses boolean not null default false,
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
  quoted_seq bigint,
  created_at timestamptz not null default clock_timestamp(),
  read_at timestamptz
);
comment on table public.notifications is
  'The notifications of accounts, kept for 180 days. Cleaned by private.purge_notifications.';
comment on column public.notifications.identity_id is
  'The identity that the notification is for; null if it is about the account itself.';
comment on column public.notifications.collapses is
  'Copied from the kind. If true, later events about the same thing only increment times while the '
  'notification is unread.';
comment on column public.notifications.entity_id is
  'The id of the conversation, listing, invoice, plan, identity, review or session that the '
  'notification is about, if any.';
comment on column public.notifications.from_identity_id is
  'The identity whose words the notification quotes. When that identity is closed, the '
  'notification is deleted.';
comment on column public.notifications.route is
  'The screen that the app opens when the notification is tapped.';
comment on column public.notifications.times is
  'The number of events that the notification covers.';
comment on column public.notifications.quoted_seq is
  'The seq of the quoted message in the conversation entity_id.';

create index notifications_newest_idx
  on public.notifications (account_id, created_at desc, id desc);
-- For the list of unread notifications, and for counting them with an index-only scan.
create index notifications_unread_idx
  on public.notifications (account_id, created_at desc, id desc) where read_at is null;
create index notifications_created_idx on public.notifications (created_at);
create index notifications_identity_idx on public.notifications (identity_id);
create index notifications_from_identity_idx on public.notifications (from_identity_id)
  where from_identity_id is not null;
create unique index notifications_one_unread_key
  on public.notifications (account_id, kind, entity_id, identity_id)
  where read_at is null and collapses;

alter table public.notifications enable row level security;
revoke all on public.notifications from anon, authenticated;
grant select on public.notifications to authenticated, acting;
grant update (read_at), delete on public.notifications to acting;
create policy "people see their own notifications" on public.notifications
  for select to authenticated, acting
  using (account_id = (select private.account_id()));
create policy "people read their own notifications" on public.notifications for update to acting
  using (account_id = (select private.account_id()));
create policy "people delete their own notifications" on public.notifications for delete to acting
  using (account_id = (select private.account_id()));
