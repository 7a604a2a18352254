create function private.peer_json(identity_id uuid) returns json
  language plpgsql stable
  security definer -- reads the names of other people; the callers check access
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'identityId', identities.id,
      'displayName', private.shown_name(identities),
      'avatarUrl', identities.avatar_url,
      'type', identities.type
    )
    from public.identities where identities.id = peer_json.identity_id
  );
end
$$;

create function private.message_json(message public.messages) returns jsonb
  language plpgsql stable
  security definer -- reads messages and pictures of both sides
  set search_path = ''
as $$
declare
  media_url text;
  reply_to_id uuid;
begin
  -- The URL is read only if there is a picture, because this function runs several times per message.
  if message.media_id is not null and message.hidden_at is null then
    select private.media_url(media.bucket, media.name) into media_url from public.media
    where media.id = message.media_id and media.discarded_at is null;
  end if;
  if message.reply_to_seq is not null then
    select answered.id into reply_to_id from public.messages as answered
    where answered.conversation_id = message.conversation_id
      and answered.seq = message.reply_to_seq;
  end if;
  return jsonb_build_object(
    'id', message.id,
    'seq', message.seq,
    'conversationId', message.conversation_id,
    'senderIdentityId', message.sender_identity_id,
    'type', message.type,
    'body', case when message.hidden_at is null then message.body else '' end,
    'mediaUrl', media_url,
    'replyToId', reply_to_id,
    'replyToSeq', message.reply_to_seq,
    'clientMessageId', message.client_message_id,
    'createdAt', message.created_at
  ) || case when message.hidden_at is null then '{}' else '{"hidden": true}'::jsonb end;
end
$$;

create function private.message_preview(message public.messages, reader_account_id uuid)
  returns text
  language plpgsql stable
  security definer -- reads the language of the other side
  set search_path = ''
as $$
declare
  english boolean;
  title text;
begin
  if message.hidden_at is null and message.type in ('text', 'image') and message.body <> '' then
    return private.beginning(message.body, 100);
  end if;
  english := case when reader_account_id is null then private.in_english() else exists (
    select from public.accounts
    where accounts.id = reader_account_id and accounts.language = 'en'
  ) end;
  if message.hidden_at is null and message.type = 'property' then
    select ': ' || private.shown_title(properties, null) into title
    from public.properties where properties.id = message.body::uuid;
  end if;
  return case case when message.hidden_at is null then message.type else 'hidden' end
    when 'hidden' then case when english then 'Hidden message' else 'رسالة محجوبة' end
    when 'text' then ''
    when 'image' then case when english then 'Picture' else 'صورة' end
    when 'location' then case when english then 'Location' else 'موقع' end
    else case when english then 'Listing' else 'إعلان' end || coalesce(title, '')
  end;
end
$$;
comment on function private.message_preview is
  'Returns the beginning of the text. For a message without text, returns its type (and the title '
  'of a listing) in the language of the reader or, if reader_account_id is null, of the caller.';

create function private.message_summary(
  message public.messages, identity_id uuid, reader_account_id uuid default null
) returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return jsonb_build_object(
    'id', message.id,
    'seq', message.seq,
    'type', message.type,
    'preview', private.message_preview(message, reader_account_id),
    'mine', message.sender_identity_id = message_summary.identity_id,
    'createdAt', message.created_at
  ) || case when message.hidden_at is null then '{}' else '{"hidden": true}'::jsonb end;
end
$$;

create function private.last_message_json(
  conversation_id uuid, identity_id uuid, reader_account_id uuid default null
) returns jsonb
  language plpgsql stable
  security definer -- reads messages; the callers check access
  set search_path = ''
as $$
begin
  return (
    select private.message_summary(messages, last_message_json.identity_id, reader_account_id)
    from public.messages
    where messages.conversation_id = last_message_json.conversation_id
    order by messages.seq desc
    limit 1
  );
end
$$;

create function private.shown_read_seq(participant public.participants) returns bigint
  language plpgsql stable
  security definer -- reads a setting of both sides
  set search_path = ''
as $$
begin
  return (
    select participant.peer_read_seq
    where not exists (
      select from public.participants as sides
      join public.account_settings on account_settings.account_id = sides.account_id
        and not account_settings.read_receipts
      where sides.conversation_id = participant.conversation_id
    )
  );
end
$$;
comment on function private.shown_read_seq is
  'Returns peer_read_seq, or null if either side hides read receipts.';

create function private.conversation_updated_json(participant public.participants)
  returns jsonb
  language plpgsql stable set search_path = ''
as $$
begin
  return jsonb_build_object(
    'conversationId', participant.conversation_id,
    'lastMessage', private.last_message_json(
      participant.conversation_id, participant.identity_id, participant.account_id),
    'unread', participant.unread,
    'muted', participant.muted,
    'archived', participant.archived,
    'peerReadSeq', private.shown_read_seq(participant),
    'changedAt', participant.changed_at,
    'liveTopic', private.live_topic(participant.conversation_id));
end
$$;
comment on function private.conversation_updated_json is
  'Returns the payload of the event conversation_updated.';

create function private.conversation_property_json(property_id uuid, identity_id uuid)
  returns json
  language plpgsql stable
  security definer -- reads listings of other people, if the identity may see them
  set search_path = ''
as $$
begin
  return (
    select case when private.may_see(properties, conversation_property_json.identity_id)
      then json_build_object(
        'id', properties.id,
        'titleAr', properties.title_ar,
        'type', properties.type,
        'priceLabel',
          private.price_label(properties.type, properties.price, private.in_english()),
        'status', properties.status
      )
      else json_strip_nulls(json_build_object(
        'id', conversation_property_json.property_id,
        'status', 'unavailable',
        'available', false,
        'titleAr', private.shown_title(properties, conversation_property_json.identity_id)
      ))
    end
    from (select conversation_property_json.property_id as id) as given
    left join public.properties on properties.id = given.id
    where given.id is not null
  );
end
$$;

create function private.cannot_write_reason(own public.participants) returns text
  language plpgsql stable
  security definer -- reads both participants and the blocks between them
  set search_path = ''
  set join_collapse_limit = 1 -- private.store_messages explains both settings
  set plan_cache_mode = 'force_generic_plan'
as $$
begin
  return (
    select case
      when ends.refusal = 'blocked' and not exists (
        select from public.blocks
        where blocks.account_id = own.account_id
          and blocks.blocked_account_id = ends.reader_account_id
      ) then 'unavailable'
      else ends.refusal end
    from private.message_ends(own.conversation_id, own.identity_id) as ends
  );
end
$$;
comment on function private.cannot_write_reason is
  'Returns why this side may not write at the moment, or null if it may. A block is disclosed only '
  'to the side that made it.';

create function private.conversation_json(conversation_id uuid, identity_id uuid) returns json
  language plpgsql stable
  security definer -- reads both participants; the callers check access
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'id', conversations.id,
      'liveTopic', private.live_topic(conversations.id),
      'property', private.conversation_property_json(
        coalesce(conversations.property_id,
          -- the id of a listing whose row was purged
          nullif(split_part(conversations.pair_key, ' ', 3), '')::uuid),
        own.identity_id),
      'peer', private.peer_json(other.identity_id),
      'lastMessage', private.last_message_json(conversations.id, own.identity_id),
      'unread', own.unread,
      'muted', own.muted,
      'archived', own.archived,
      'peerReadSeq', private.shown_read_seq(own),
      'cannotWriteReason', private.cannot_write_reason(own),
      'updatedAt', own.active_at,
      'changedAt', own.changed_at
    )
    from public.conversations
    join public.participants as own on own.conversation_id = conversations.id
    join public.participants as other on other.conversation_id = conversations.id
      and other.identity_id <> own.identity_id
    where conversations.id = conversation_json.conversation_id
      and own.identity_id = conversation_json.identity_id
  );
end
$$;
