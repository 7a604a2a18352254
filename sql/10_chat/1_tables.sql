create table public.conversations (
  id uuid primary key default gen_random_uuid(),
  pair_key text not null constraint conversations_pair_is_one unique,
  property_id uuid references public.properties (id) on delete set null,
  live_key uuid not null default gen_random_uuid(),
  last_seq bigint not null default 0,
  opened_by uuid references public.accounts (id),
  created_at timestamptz not null default clock_timestamp()
);
comment on table public.conversations is
  'Chats of two identities, about a listing or in general. Never purged: they belong to both.';
comment on column public.conversations.pair_key is
  'The ids of both identities in ascending order, followed by the id of the listing, if any. It is '
  'unique, so two identities have only one chat per listing and one in general.';
comment on column public.conversations.live_key is
  'A secret that is hashed into the name of the live channel. It is renewed when one side blocks '
  'the other.';
comment on column public.conversations.last_seq is
  'The seq of the newest message, or 0 if there is none.';
comment on column public.conversations.opened_by is
  'The account that opened the conversation. The conversation counts against the limit of this '
  'account until the other side answers.';
create index conversations_opened_idx on public.conversations (opened_by, created_at);
create index conversations_property_idx on public.conversations (property_id);

create table public.participants (
  conversation_id uuid not null references public.conversations (id) on delete cascade,
  identity_id uuid not null references public.identities (id),
  account_id uuid not null references public.accounts (id),
  last_read_seq bigint not null default 0,
  peer_read_seq bigint not null default 0,
  unread bigint not null default 0 constraint participants_unread_is_a_count check (unread >= 0),
  written bigint not null default 0,
  muted boolean not null default false,
  archived boolean not null default false,
  unlisted boolean not null default false,
  active_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (conversation_id, identity_id)
);
comment on table public.participants is
  'The two sides of each conversation. Deleted with the conversation.';
comment on column public.participants.last_read_seq is
  'This side has read all messages up to this seq.';
comment on column public.participants.peer_read_seq is
  'The seq up to which the other side has read, as shown to this side. It is not updated while '
  'either side hides read receipts or has blocked the other.';
comment on column public.participants.unread is
  'The number of messages of the other side after last_read_seq, except hidden ones.';
comment on column public.participants.written is
  'The number of messages written by this side, except those written before this column existed.';
comment on column public.participants.muted is
  'Whether new messages cause no push and no notification.';
comment on column public.participants.archived is
  'Whether the conversation is not in the main list and not in the unread total. It stays archived '
  'until the next message or, if it is also muted, until this side writes.';
comment on column public.participants.unlisted is
  'Whether the conversation is not in any list of this side yet, because the other side opened it '
  'and nobody has written.';
comment on column public.participants.active_at is
  'When the last message was written or, without messages, the conversation was opened. Lists are '
  'sorted by it.';
comment on column public.participants.changed_at is
  'When this side last changed: when a message was written, hidden or shown again, when this side '
  'read, muted or archived, or when a read receipt arrived.';
create index participants_newest_idx
  on public.participants (identity_id, archived, active_at desc, conversation_id desc)
  where not unlisted;
-- A new message sets both times to the same value, so it adds no entry to this index.
create index participants_changed_idx
  on public.participants (identity_id, changed_at) where changed_at > active_at;
create index participants_unread_idx on public.participants (identity_id, unread)
  where unread > 0 and not archived;
create index participants_account_idx on public.participants (account_id, conversation_id);

create table public.messages (
  id uuid primary key default gen_random_uuid(),
  conversation_id uuid not null,
  sender_identity_id uuid not null,
  seq bigint not null,
  -- A repetition count such as {1,64} in the pattern would make the check thirty times as slow.
  client_message_id text not null constraint messages_client_id_is_short check (
    client_message_id ~ '^[\u0021-\u007e]+$' and char_length(client_message_id) <= 64
  ),
  type text not null constraint messages_type_is_known
    check (type in ('text', 'image', 'location', 'property')),
  body text not null constraint messages_body_is_short check (char_length(body) <= 4000),
  media_id uuid references public.media (id),
  reply_to_seq bigint,
  hidden_at timestamptz,
  changed_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  constraint messages_are_numbered_once unique (conversation_id, seq),
  constraint messages_are_sent_once unique (conversation_id, sender_identity_id, client_message_id),
  constraint messages_sender_takes_part foreign key (conversation_id, sender_identity_id)
    references public.participants (conversation_id, identity_id) on delete cascade,
  constraint messages_answer_their_own_conversation foreign key (conversation_id, reply_to_seq)
    references public.messages (conversation_id, seq),
  constraint messages_of_pictures_have_one check ((type = 'image') = (media_id is not null))
);
comment on table public.messages is
  'Messages. They are never deleted alone: an admin can hide one, and its text is erased later. '
  'Deleted with the conversation.';
comment on column public.messages.client_message_id is
  'An id that the client chose. A message with the same id is not stored again.';
comment on column public.messages.body is
  'The text; for an image its caption, for a location "lat,lng", for a property its id.';
comment on column public.messages.hidden_at is
  'When an admin hid the message. Its body is erased 180 days later.';
comment on column public.messages.changed_at is
  'When the message was last hidden or shown again; null if it never was.';
create index messages_media_idx on public.messages (media_id) where media_id is not null;
create index messages_reply_idx on public.messages (conversation_id, reply_to_seq)
  where reply_to_seq is not null;
create index messages_changed_idx
  on public.messages (conversation_id, coalesce(changed_at, created_at));
create index messages_hidden_idx on public.messages (hidden_at)
  where hidden_at is not null and body <> '';

create function private.my_conversations() returns setof uuid
  language plpgsql stable
  security definer -- policies call this function, so no policy may apply inside it
  set search_path = ''
as $$
begin
  return query
  select participants.conversation_id from public.participants
  where participants.identity_id = private.identity_id();
end
$$;

alter table public.conversations enable row level security;
alter table public.participants enable row level security;
alter table public.messages enable row level security;
revoke all on public.conversations, public.participants, public.messages from anon, authenticated;
-- Clients must not see the keys of channels or the accounts of identities.
grant select (id, pair_key, property_id, last_seq, created_at)
  on public.conversations to authenticated;
grant select (conversation_id, identity_id, last_read_seq, unread, muted, archived,
  active_at, changed_at) on public.participants to authenticated;
grant select (id, conversation_id, seq, sender_identity_id, client_message_id, type, body, media_id,
  reply_to_seq, created_at) on public.messages to authenticated;
grant select, update (last_seq) on public.conversations to acting;
grant select, update (last_read_seq, unread, muted, archived, changed_at)
  on public.participants to acting;
grant select on public.messages to acting;
create policy "participants see their conversations" on public.conversations
  for select to authenticated
  using (id in (select private.my_conversations()));
create policy "participants see themselves" on public.participants
  for select to authenticated, acting
  using (identity_id = (select private.identity_id()));
create policy "participants see the messages that are not hidden" on public.messages
  for select to authenticated
  using (hidden_at is null and conversation_id in (select private.my_conversations()));

-- These policies rely on the policy of participants, which shows only the side of the caller. Functions
-- read one conversation at a time, so a lookup is cheaper than collecting all conversations of the
-- caller.
create policy "participants see theirs" on public.conversations for select to acting
  using (exists (
    select from public.participants where participants.conversation_id = conversations.id
  ));
create policy "participants lock theirs" on public.conversations for update to acting
  using (exists (
    select from public.participants where participants.conversation_id = conversations.id
  ));
create policy "participants change their own side" on public.participants for update to acting
  using (identity_id = (select private.identity_id()));
create policy "participants see all messages, hidden ones without their text" on public.messages
  for select to acting
  using (exists (
    select from public.participants where participants.conversation_id = messages.conversation_id
  ));

grant execute on function private.my_conversations to authenticated;
