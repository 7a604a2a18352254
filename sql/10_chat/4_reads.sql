-- Chat: the list of conversations, the history, the list of blocks. Indexes serve all, however
-- long.

create function private.require_participant(conversation_id uuid, caller_id uuid)
  returns public.participants
  language plpgsql
  stable
  security definer -- the same answer for a conversation of others as for none
  set search_path = ''
as $$
declare
  participant public.participants;
begin
  select * into participant from public.participants
  where participants.conversation_id = require_participant.conversation_id
    and participants.identity_id = require_participant.caller_id;
  if participant.conversation_id is null then
    perform private.refuse(404, 'conversation_not_found');
  end if;
  return participant;
end
$$;
comment on function private.require_participant is
  'The calling identity''s row of a conversation; 404 conversation_not_found.';

create function private.get_conversation(conversation_id uuid) returns json
  language plpgsql
  stable
  security definer -- reads the other participant
  set search_path = ''
as $$
declare
  participant public.participants := private.require_participant(
    get_conversation.conversation_id, private.require_identity());
begin
  return private.conversation_json(participant.conversation_id, participant.identity_id);
end
$$;
comment on function private.get_conversation is
  'Api: One conversation of the acting identity. 404 conversation_not_found.';

create function private.conversations_changed_at(identity_id uuid) returns timestamptz
  language plpgsql
  stable
  security definer -- reads one side of all its conversations
  set search_path = ''
as $$
begin
  -- The newest of each index.
  return greatest(
    (
      select participants.active_at from public.participants
      where participants.identity_id = conversations_changed_at.identity_id
        and not participants.archived
      order by participants.active_at desc limit 1
    ), (
      select participants.active_at from public.participants
      where participants.identity_id = conversations_changed_at.identity_id
        and participants.archived
      order by participants.active_at desc limit 1
    ), (
      select participants.changed_at from public.participants
      where participants.identity_id = conversations_changed_at.identity_id
        and participants.changed_at > participants.active_at
      order by participants.changed_at desc limit 1
    ));
end
$$;
comment on function private.conversations_changed_at is
  'When anything last changed on this side of any of its conversations; null without one.';

create function private.list_conversations(
  archived boolean default false, page_cursor text default null, page_size integer default 20
) returns table (
  items json, "nextCursor" text, "unreadTotal" bigint, "changedAt" timestamptz, "realtimeTopic" text
)
  language plpgsql
  stable
  security definer -- reads the other participants
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_identity();
  query text := concat_ws(' ', 'list_conversations', caller_id, archived);
  key jsonb := private.cursor_key(query, page_cursor);
begin
  return query
  with page as (
    select participants.conversation_id, participants.active_at,
      row_number() over (order by participants.active_at desc, participants.conversation_id desc)
        as row_number
    from public.participants
    where participants.identity_id = caller_id
      and participants.archived = list_conversations.archived
      and (participants.active_at, participants.conversation_id) < (
        coalesce((key ->> 0)::timestamptz, 'infinity'),
        coalesce((key ->> 1)::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      )
    order by participants.active_at desc, participants.conversation_id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(private.conversation_json(page.conversation_id, caller_id)
      order by page.row_number) filter (where page.row_number <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.active_at, page.conversation_id) order by page.row_number)
        filter (where page.row_number >= page_size)),
    (
      select coalesce(sum(participants.unread), 0)::bigint from public.participants
      where participants.identity_id = caller_id
        and participants.unread > 0 and not participants.archived
    ),
    private.conversations_changed_at(caller_id),
    (
      select accounts.topic::text from public.accounts where accounts.id = private.account_id()
    )
  from page;
end
$$;
comment on function private.list_conversations is
  'Api: The conversations of the acting identity, the one with the newest message first: those that '
  'it has archived, or all others. Beside them how many messages it has not read in all others, when '
  'anything last changed on its side of any, and the channel of the account. A page of one shows '
  'whether anything was missed.';

create function private.list_messages(
  conversation_id uuid, before_seq bigint default null, after_seq bigint default null,
  page_size integer default 20
) returns table (items json, "hasMore" boolean)
  language plpgsql -- volatile: what is read after waiting is as it is then
  security definer -- reads the messages of both participants
  set search_path = ''
as $$
declare
  participant public.participants := private.require_participant(
    list_messages.conversation_id, private.require_identity());
begin
  if num_nonnulls(before_seq, after_seq) = 2 then
    perform private.refuse_field('afterSeq', 'invalid');
  end if;
  if before_seq is null then
    perform private.wait_for_announced(participant.conversation_id);
  end if;
  if after_seq is not null then
    return query
    with page as (
      select messages as message, row_number() over (order by messages.seq) as row_number
      from public.messages
      where messages.conversation_id = participant.conversation_id
        and messages.seq > list_messages.after_seq
      order by messages.seq
      limit private.page_size(page_size) + 1
    )
    select
      coalesce(json_agg(private.message_json(page.message) order by page.row_number)
        filter (where page.row_number <= page_size), '[]'),
      count(*) > page_size
    from page;
  else
    return query
    with page as (
      select messages as message, row_number() over (order by messages.seq desc) as row_number
      from public.messages
      where messages.conversation_id = participant.conversation_id
        and messages.seq < coalesce(list_messages.before_seq, 9223372036854775807)
      order by messages.seq desc
      limit private.page_size(page_size) + 1
    )
    select
      coalesce(json_agg(private.message_json(page.message) order by page.row_number desc)
        filter (where page.row_number <= page_size), '[]'),
      count(*) > page_size
    from page;
  end if;
end
$$;
comment on function private.list_messages is
  'Api: Messages in their order: the newest, those just before a number, or those after one. '
  'hasMore says whether there are more in that direction. What an event has announced is there. '
  '404 conversation_not_found.';

create function private.list_blocks(page_cursor text default null, page_size integer default 20)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads names of others
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_account();
  query text := 'list_blocks ' || caller_id;
  key jsonb := private.cursor_key(query, page_cursor);
begin
  return query
  with page as (
    select blocks.identity_id, blocks.created_at,
      row_number() over (order by blocks.created_at desc, blocks.identity_id desc) as row_number
    from public.blocks
    where blocks.account_id = caller_id
      and (blocks.created_at, blocks.identity_id)
        < (coalesce((key ->> 0)::timestamptz, 'infinity'), coalesce((key ->> 1)::uuid,
          'ffffffff-ffff-ffff-ffff-ffffffffffff'))
    order by blocks.created_at desc, blocks.identity_id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(private.peer_json(page.identity_id)::jsonb
      || jsonb_build_object('createdAt', page.created_at) order by page.row_number)
      filter (where page.row_number <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.created_at, page.identity_id) order by page.row_number)
        filter (where page.row_number >= page_size))
  from page;
end
$$;
comment on function private.list_blocks is
  'Api: Identities that the caller has blocked, newest first.';

-- Hardly anybody has blocked somebody, so whether the session counts is asked last.
create function private.blocked_identities() returns uuid[]
  language plpgsql
  stable
  security definer -- reads the blocks of the caller wherever lists are made
  set search_path = ''
as $$
declare
  caller_sub constant uuid :=
    nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub';
  blocked uuid[] := '{}';
begin
  if caller_sub is not null then
    blocked := array(
      select blocks.identity_id from public.blocks where blocks.account_id = caller_sub);
    if blocked <> '{}' and private.account_id() is null then
      blocked := '{}';
    end if;
  end if;
  return blocked;
end
$$;
comment on function private.blocked_identities is
  'The identities that the caller has blocked: lists of what others offer leave out what is theirs. '
  'Not the other identities of their accounts, which would tell whose they are.';

create function private.without_blocked(property_ids uuid[]) returns uuid[]
  language plpgsql
  stable
  security definer -- reads who owns listings of others
  set search_path = ''
as $$
declare
  blocked constant uuid[] := private.blocked_identities();
begin
  if blocked = '{}' then
    return property_ids;
  end if;
  return array(
    select found.id
    from unnest(property_ids) with ordinality as found (id, ordinal)
    join public.properties on properties.id = found.id
    where properties.owner_identity_id <> all (blocked)
    order by found.ordinal
  );
end
$$;
comment on function private.without_blocked is
  'These listings in their order, without those of whom the caller has blocked. Asked of a page that '
  'was found, which so may be shorter: cursors and counts do not know of blocks.';

grant execute on function
  private.get_conversation, private.list_conversations, private.list_messages, private.list_blocks
  to authenticated;
