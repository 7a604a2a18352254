-- Who may review whom, and what a review may say.

create function private.have_been_in_contact(author_id uuid, subject_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- reads leads and conversations of both
  set search_path = ''
as $$
begin
  return exists (
    select from public.leads
    where leads.identity_id = author_id and leads.owner_identity_id = subject_id
  ) or exists (
    select from public.participants
    where participants.identity_id = author_id
      and exists (
        select from public.messages
        where messages.conversation_id = participants.conversation_id
          and messages.sender_identity_id = author_id
      )
      and exists (
        select from public.messages
        where messages.conversation_id = participants.conversation_id
          and messages.sender_identity_id = subject_id
      )
  );
end
$$;
comment on function private.have_been_in_contact is
  'Whether the author asked for the subject''s contact, or both wrote in a conversation.';

create function private.clean_review_text(given text, path text) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  clean text := nullif(btrim(normalize(given, nfc), E' \t\r\n'), '');
begin
  if char_length(clean) > 1000 or not private.is_clean(clean) then
    perform private.refuse_field(path, 'invalid');
  end if;
  return clean;
end
$$;
comment on function private.clean_review_text is
  'A comment or reply without outer white space, null when nothing is left; else 422.';
