create function private.have_been_in_contact(author_id uuid, subject_id uuid) returns boolean
  language plpgsql stable
  security definer -- reads leads and conversations of both sides
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

create function private.name_author_account() returns trigger
  language plpgsql
  security definer -- reads identities, for any role that adds a review
  set search_path = ''
as $$
begin
  select identities.account_id into new.author_account_id from public.identities
  where identities.id = new.author_identity_id;
  return new;
end
$$;
comment on function private.name_author_account is 'Fills in the account of a review''s author.';

create trigger reviews_name_their_account
  before insert on public.reviews
  for each row execute function private.name_author_account();

create function private.check_may_review(
  author_id uuid, subject public.identities, property_id uuid
) returns void
  language plpgsql stable
  security definer -- reads the listings of the reviewed identity
  set search_path = ''
as $$
begin
  if subject.account_id = private.account_id() then
    perform private.refuse_field('identityId', 'review_self');
  elsif not private.is_publicly_visible(subject.id) then
    perform private.refuse(404, 'identity_not_found');
  elsif check_may_review.property_id is not null and not exists (
    select from public.properties
    where properties.id = check_may_review.property_id
      and properties.owner_identity_id = subject.id
      and private.may_see(properties, author_id)
  ) then
    perform private.refuse(404, 'property_not_found');
  end if;
  -- Accounts with an unproven email cost nothing to create, so one person could write any number of
  -- reviews.
  if not exists (
    select from public.accounts
    where accounts.id = private.account_id() and private.is_proven(accounts)
  ) then
    perform private.refuse(403, 'account_unproven');
  end if;
  if not private.have_been_in_contact(author_id, subject.id) then
    perform private.refuse(403, 'review_not_eligible');
  end if;
end
$$;

create function private.check_rating(rating jsonb) returns void
  language plpgsql immutable set search_path = ''
as $$
declare
  problem constant text := private.number_problem('integer', rating, 1, 5);
begin
  if problem is not null then
    perform private.refuse_field('rating', problem);
  end if;
end
$$;

create function private.clean_review_text(given text, path text) returns text
  language plpgsql stable set search_path = ''
as $$
declare
  clean text := nullif(btrim(private.normal_form(given, 'nfc', 1000, path), E' \t\r\n'), '');
begin
  if char_length(clean) > 1000 then
    perform private.refuse_field(path, 'too_long', most => 1000);
  elsif not private.is_clean(clean) then
    perform private.refuse_field(path, 'invalid');
  end if;
  return clean;
end
$$;
