create function private.require_participant(conversation_id uuid, caller_id uuid)
  returns public.participants
  language plpgsql stable set search_path = ''
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

create function private.get_conversation(conversation_id uuid) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  participant public.participants := private.require_participant(
    get_conversation.conversation_id, private.require_identity());
begin
  return private.conversation_json(participant.conversation_id, participant.identity_id);
end
$$;
comment on function private.get_conversation is
  'Api: Returns a conversation of the acting identity. 404 conversation_not_found.';

create function private.conversations_changed_at(identity_id uuid) returns timestamptz
  language plpgsql stable
  security definer -- row-level security would determine the identity again in each of three lookups
  set search_path = ''
as $$
begin
  -- Each subquery reads only one index entry, the newest in its range.
  return greatest(
    (
      select participants.active_at from public.participants
      where participants.identity_id = conversations_changed_at.identity_id
        and not participants.archived and not participants.unlisted
      order by participants.active_at desc limit 1
    ), (
      select participants.active_at from public.participants
      where participants.identity_id = conversations_changed_at.identity_id
        and participants.archived and not participants.unlisted
      order by participants.active_at desc limit 1
    ), (
      select participants.changed_at from public.participants
      where participants.identity_id = conversations_changed_at.identity_id
        and participants.changed_at > participants.active_at
      order by participants.changed_at desc limit 1
    ));
end
$$;

create function private.count_unread_messages(identity_id uuid) returns bigint
  language plpgsql stable
  security definer -- also counts for identities of the account other than the acting one
  set search_path = ''
as $$
begin
  return (
    select coalesce(sum(participants.unread), 0)::bigint from public.participants
    where participants.identity_id = count_unread_messages.identity_id
      and participants.unread > 0 and not participants.archived
  );
end
$$;
comment on function private.count_unread_messages is
  'Returns the number of unread messages in all conversations of an identity that are not '
  'archived.';

create function private.list_conversations(
  archived boolean default false, page_cursor text default null, page_size integer default 20
) returns table (
  items json, "nextCursor" text, "unreadTotal" bigint, "changedAt" timestamptz, "realtimeTopic" text
)
  language plpgsql stable security definer set search_path = ''
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
      and participants.archived = list_conversations.archived and not participants.unlisted
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
    private.count_unread_messages(caller_id),
    private.conversations_changed_at(caller_id),
    (
      select accounts.topic::text from public.accounts where accounts.id = private.account_id()
    )
  from page;
end
$$;
comment on function private.list_conversations is
  'Api: Lists the conversations of the acting identity, either the archived ones or all others, '
  'newest message first. unreadTotal is the number of unread messages in conversations that are '
  'not archived, changedAt the time of the last change of any conversation, and realtimeTopic the '
  'channel of the account. A client can request a page of one to find out whether it missed '
  'anything.';

create function private.list_messages(
  conversation_id uuid, before_seq bigint default null, after_seq bigint default null,
  page_size integer default 20, changed_since timestamptz default null
) returns table (items json, "hasMore" boolean, "changedAt" timestamptz)
  language plpgsql -- volatile, to see what other transactions commit while the function waits
  security definer
  set search_path = ''
as $$
declare
  participant public.participants := private.require_participant(
    list_messages.conversation_id, private.require_identity());
begin
  if num_nonnulls(before_seq, after_seq, changed_since) > 1 then
    perform private.refuse_field(
      case when changed_since is null then 'afterSeq' else 'changedSince' end, 'invalid');
  end if;
  if before_seq is null then
    perform private.wait_for_announced(participant.conversation_id);
  end if;
  if changed_since is not null then
    return query
    with page as (
      select messages as message, coalesce(messages.changed_at, messages.created_at) as changed_at,
        row_number() over (order by coalesce(messages.changed_at, messages.created_at))
          as row_number
      from public.messages
      where messages.conversation_id = participant.conversation_id
        and coalesce(messages.changed_at, messages.created_at) > list_messages.changed_since
      order by coalesce(messages.changed_at, messages.created_at)
      limit private.page_size(page_size) + 1
    )
    select
      coalesce(json_agg(private.message_json(page.message) order by page.row_number)
        filter (where page.row_number <= page_size), '[]'),
      count(*) > page_size,
      coalesce(max(page.changed_at) filter (where page.row_number <= page_size),
        list_messages.changed_since)
    from page;
    return;
  end if;
  select coalesce(messages.changed_at, messages.created_at) into "changedAt" from public.messages
  where messages.conversation_id = participant.conversation_id
  order by coalesce(messages.changed_at, messages.created_at) desc
  limit 1;
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
      count(*) > page_size,
      list_messages."changedAt"
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
      count(*) > page_size,
      list_messages."changedAt"
    from page;
  end if;
end
$$;
comment on function private.list_messages is
  'Api: Lists messages in the order of seq: the newest ones, or those before or after a seq. With '
  'changed_since, lists the messages that were written, hidden or shown again since then, in the '
  'order of these changes and up to changedAt. hasMore: whether there are more in that direction. '
  'A message that an event has announced is always included. 404 conversation_not_found.';

create function private.list_blocks(page_cursor text default null, page_size integer default 20)
  returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
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
  'Api: Lists the identities that the caller has blocked, newest first.';

grant execute on function
  private.get_conversation, private.list_conversations, private.list_messages, private.list_blocks
  to authenticated;
