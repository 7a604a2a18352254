create table private.notification_kinds (
  kind text primary key,
  category text not null,
  route text not null,
  always_listed boolean not null,
  collapses boolean not null,
  at_once boolean not null,
  position smallint not null
);
alter table private.notification_kinds enable row level security;
create policy "nobody but functions of their owner" on private.notification_kinds using (false);
comment on table private.notification_kinds is
  'The kinds of notifications. always_listed: added to the list even if the user has switched off '
  'the category (vocabulary notification_category). collapses: several events about one thing '
  'share one unread notification. at_once: pushed even in quiet hours. Never purged: one row per '
  'kind.';

create table private.notification_texts (
  kind text references private.notification_kinds (kind),
  position smallint,
  holds_for jsonpath,
  title_ar text not null,
  body_ar text not null,
  title_en text not null,
  body_en text not null,
  primary key (kind, position)
);
alter table private.notification_texts enable row level security;
create policy "nobody but functions of their owner" on private.notification_texts using (false);
comment on table private.notification_texts is
  'The texts of each kind. The first text whose condition is true is used. Never purged: a few '
  'rows per kind.';
comment on column private.notification_texts.holds_for is
  'A jsonpath condition on the details of the event and on times, the number of events. Null is '
  'always true.';
