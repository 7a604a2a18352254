-- Chat: conversations between two accounts, each acting as the identity that it was opened with.
-- Blocks name an identity and act on the account behind it, so switching identities does not evade
-- them.

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
  'Two identities about a listing, or about nothing in particular. Stays: it belongs to both '
  'sides.';
comment on column public.conversations.pair_key is
  'Both identities in order and the listing, if any: what makes two conversations one.';
comment on column public.conversations.live_key is
  'Random and secret: the name of the live channel is made of it. Renewed whenever one side '
  'blocks the other.';
comment on column public.conversations.last_seq is
  'Number of the newest message; 0 before the first.';
comment on column public.conversations.opened_by is
  'The account that opened it; null where that counts for nobody.';
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
  active_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  primary key (conversation_id, identity_id)
);
comment on table public.participants is
  'Who takes part in a conversation: two rows each. Goes with the conversation.';
comment on column public.participants.last_read_seq is
  'Everything up to this number has been read.';
comment on column public.participants.peer_read_seq is
  'Up to where this side was shown that the other has read: when it did, both let that be seen and '
  'neither had blocked the other.';
comment on column public.participants.unread is 'How many of the other''s messages come after it.';
comment on column public.participants.written is
  'How many messages this side has written, since they are counted.';
comment on column public.participants.muted is 'No push for its messages.';
comment on column public.participants.archived is
  'Out of the list, and of what is unread in all, until the next message; where it is muted as well, '
  'until one of its own.';
comment on column public.participants.active_at is
  'When the last message came, or when it was opened: the order of the list.';
comment on column public.participants.changed_at is
  'When this side last changed: as active_at, or since then it has read, muted or archived, or was '
  'shown that the other has read.';
create index participants_newest_idx
  on public.participants (identity_id, archived, active_at desc, conversation_id desc);
-- A message brings both times together, so it writes nothing here.
create index participants_changed_idx
  on public.participants (identity_id, changed_at) where changed_at > active_at;
create index participants_unread_idx on public.participants (identity_id, unread)
  where unread > 0 and not archived;
create index participants_account_idx on public.participants (account_id, conversation_id);

create table public.messages (
  id uuid primary key default gen_random_uuid(),
  -- Both refer to the sender's row in participants.
  conversation_id uuid not null,
  sender_identity_id uuid not null,
  seq bigint not null,
  -- Without a count in the pattern, which would make it thirty times as dear.
  client_message_id text not null constraint messages_client_id_is_short check (
    client_message_id ~ '^[\u0021-\u007e]+$' and char_length(client_message_id) <= 64
  ),
  type text not null constraint messages_type_is_known
    check (type in ('text', 'image', 'location', 'property')),
  body text not null constraint messages_body_is_short check (char_length(body) <= 4000),
  media_id uuid references public.media (id),
  reply_to_seq bigint,
  hidden_at timestamptz,
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
  'Messages. Rows are added; an admin alone hides one. Goes with the conversation.';
comment on column public.messages.seq is 'Its number in the conversation, from 1, without gaps.';
comment on column public.messages.client_message_id is
  'Given by the sender: the same one sent again is the same message.';
comment on column public.messages.body is
  'The text; of an image its caption, perhaps empty; of a location "lat,lng" in degrees; of a '
  'property its id.';
comment on column public.messages.reply_to_seq is 'Number of the message that it answers.';
comment on column public.messages.hidden_at is
  'Since when neither side sees what it says; 180 days later the words go.';
create index messages_media_idx on public.messages (media_id) where media_id is not null;
create index messages_reply_idx on public.messages (conversation_id, reply_to_seq)
  where reply_to_seq is not null;
create index messages_hidden_idx on public.messages (hidden_at)
  where hidden_at is not null and body <> '';

create table public.blocks (
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  blocked_account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, identity_id),
  constraint blocks_is_of_somebody_else check (blocked_account_id <> account_id)
);
comment on table public.blocks is 'Identities that an account has blocked. Goes with the account.';
comment on column public.blocks.account_id is 'Who blocks, for all of its identities.';
comment on column public.blocks.identity_id is 'The identity that was blocked, as it was known.';
comment on column public.blocks.blocked_account_id is
  'The account behind it, which the block acts on.';
create index blocks_newest_idx
  on public.blocks (account_id, created_at desc, identity_id desc);
create index blocks_of_idx on public.blocks (blocked_account_id, account_id);
create index blocks_identity_idx on public.blocks (identity_id);

-- Who reads ---------------------------------------------------------------------------------------

create function private.my_conversations() returns setof uuid
  language plpgsql
  stable
  security definer -- reads participants, whose policy asks this
  set search_path = ''
as $$
begin
  return query
  select participants.conversation_id from public.participants
  where participants.identity_id = private.identity_id();
end
$$;
comment on function private.my_conversations is 'The conversations of the acting identity.';

alter table public.conversations enable row level security;
alter table public.participants enable row level security;
alter table public.messages enable row level security;
alter table public.blocks enable row level security;
revoke all on public.conversations, public.participants, public.messages from anon, authenticated;
revoke all on public.blocks from anon, authenticated;
-- Nobody may read which account is behind an identity, nor the keys of channels.
grant select (id, pair_key, property_id, last_seq, created_at)
  on public.conversations to authenticated;
grant select (conversation_id, identity_id, last_read_seq, unread, muted, archived,
  active_at, changed_at) on public.participants to authenticated;
grant select (id, conversation_id, seq, sender_identity_id, client_message_id, type, body, media_id,
  reply_to_seq, created_at) on public.messages to authenticated;
grant select (account_id, identity_id, created_at) on public.blocks to authenticated;
create policy "participants see their conversations" on public.conversations
  for select to authenticated
  using (id in (select private.my_conversations()));
create policy "participants see themselves" on public.participants for select to authenticated
  using (identity_id = (select private.identity_id()));
create policy "participants see the messages that are not hidden" on public.messages
  for select to authenticated
  using (hidden_at is null and conversation_id in (select private.my_conversations()));
create policy "people see whom they blocked" on public.blocks for select to authenticated
  using (account_id = (select private.account_id()));

grant execute on function private.my_conversations to authenticated;
