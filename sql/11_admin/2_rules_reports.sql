create function private.require_reportable(
  target_type text, target_id uuid, viewer_identity_id uuid
) returns uuid
  language plpgsql stable
  security definer -- reads other people's data, to decide whether the caller may see it
  set search_path = ''
as $$
declare
  author_id uuid;
  conversation_id uuid;
begin
  case target_type
    when 'property' then
      author_id := (
        private.require_visible_property(target_id, viewer_identity_id)
      ).owner_identity_id;
    when 'identity' then
      if not private.is_publicly_visible(target_id) and not exists (
        select from public.participants as own
        join public.participants as others on others.conversation_id = own.conversation_id
        where own.identity_id = viewer_identity_id and others.identity_id = target_id
      ) then
        perform private.refuse(404, 'identity_not_found');
      end if;
      author_id := target_id;
    when 'message' then
      select messages.sender_identity_id, messages.conversation_id into author_id, conversation_id
      from public.participants
      join public.messages on messages.conversation_id = participants.conversation_id
        and messages.id = target_id
      where participants.identity_id = viewer_identity_id
        and private.may_hear_conversation(participants.conversation_id, viewer_identity_id);
    else
      select reviews.author_identity_id into author_id from public.reviews
      where reviews.id = target_id and reviews.listed;
  end case;
  if author_id is null then
    perform private.refuse(404, 'not_found');
  elsif exists (
    select from public.identities
    where identities.id = author_id and identities.account_id = private.account_id()
  ) then
    perform private.refuse_field('targetId', 'invalid'); -- people cannot report their own content
  end if;
  return conversation_id;
end
$$;
comment on function private.require_reportable is
  'Refuses what the caller cannot see or owns; whom one has talked to can be reported even when deleted. Returns the conversation of a message, else null.';

create function private.on_report_decided() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if old.status <> 'open' then
    perform private.refuse_by_hand(
      'A report that was decided stays so: restore the listing or show the review itself.');
  elsif new.status = 'upheld' and private.tidy(new.status_reason, 2000, 'status_reason') is null then
    perform private.refuse_by_hand(
      'Say why in status_reason, first or in the same change: whom it is about reads it.');
  end if;
  new.decided_at := now();
  return new;
end
$$;
comment on function private.on_report_decided is
  'Refuses to decide a report a second time, or to uphold it without a reason.';

create trigger reports_are_decided_once
  before update of status on public.reports
  for each row when (old.status <> new.status)
  execute function private.on_report_decided();
