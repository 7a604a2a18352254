-- What people do with reviews: read, write, change, take back, answer.

create function private.review_record(review public.reviews, viewer_identity_id uuid) returns json
  language plpgsql
  stable
  security definer -- reads the names of authors
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'id', review.id,
      'identityId', review.subject_identity_id,
      'propertyId', review.property_id,
      'author', json_build_object(
        'identityId', identities.id,
        'type', identities.type,
        'displayName', identities.display_name,
        'avatarUrl', identities.avatar_url),
      'rating', review.rating,
      'comment', review.comment,
      'reply', review.reply,
      'createdAt', review.created_at,
      'editedAt', review.edited_at,
      'repliedAt', review.replied_at,
      'isMine', coalesce(review.author_identity_id = viewer_identity_id, false))
    from public.identities where identities.id = review.author_identity_id
  );
end
$$;
comment on function private.review_record is 'A review as everybody sees it.';

create function private.list_reviews(identity_id uuid, page_cursor text, page_size integer)
  returns table (
    items json, "nextCursor" text, average numeric, count integer, histogram json
  )
  language plpgsql
  stable
  security definer -- reads reviews of others; shows what is listed only
  set search_path = ''
as $$
declare
  viewer_id uuid := private.identity_id();
  query text := concat_ws(' ', 'list_reviews', list_reviews.identity_id);
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
  summary json;
begin
  if not private.is_on_show(list_reviews.identity_id) then
    perform private.refuse(404, 'identity_not_found');
  end if;
  summary := private.review_summary(list_reviews.identity_id);
  return query
  with page as materialized (
    select
      reviews as review, reviews.created_at, reviews.id,
      row_number() over (order by reviews.created_at desc, reviews.id desc) as place
    from public.reviews
    where reviews.subject_identity_id = list_reviews.identity_id and reviews.listed
      and (reviews.created_at, reviews.id) < (before_at, before_id)
    order by reviews.created_at desc, reviews.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(
      json_agg(private.review_record(page.review, viewer_id) order by page.place)
        filter (where page.place <= page_size),
      '[]'),
    case when pg_catalog.count(*) > page_size then (
      select private.cursor_of(query, jsonb_build_array(page.created_at, page.id))
      from page where page.place = page_size
    ) end,
    (summary ->> 'average')::numeric,
    (summary ->> 'count')::integer,
    summary -> 'histogram'
  from page;
end
$$;
comment on function private.list_reviews is 'A page of reviews; see the function of api.';

create function api.list_reviews(
  identity_id uuid, page_cursor text default null, page_size integer default 20
) returns table (
    items json, "nextCursor" text, average numeric, count integer, histogram json
  )
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select found.items, found."nextCursor", found.average, found.count, found.histogram
  from private.list_reviews(list_reviews.identity_id, page_cursor, page_size) as found;
end
$$;
comment on function api.list_reviews is
  'What is said of an identity, newest first, with average, count and histogram of all of it. '
  '404 identity_not_found.';

create function private.is_on_show(identity_id uuid) returns boolean
  language plpgsql
  stable
  security definer -- reads identities of others
  set search_path = ''
as $$
begin
  return exists (
    select from public.identities
    join public.accounts on accounts.id = identities.account_id
    left join public.organisations on organisations.identity_id = identities.id
    where identities.id = is_on_show.identity_id and identities.status = 'active'
      and accounts.status in ('active', 'deletion_requested')
      and coalesce(organisations.listed, identities.type = 'individual')
  );
end
$$;
comment on function private.is_on_show is
  'Whether everybody can know of this identity: it and its account are in order, and a company or '
  'office is verified.';

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
  'Whether the one asked for the other''s contact, or both wrote in a conversation.';

create function private.review_text(given text, path text) returns text
  language plpgsql
  stable
  set search_path = ''
as $$
declare
  clean text := nullif(btrim(normalize(given, nfc), E' \t\r\n'), '');
begin
  if char_length(clean) > 1000 or not private.is_clean(clean) then
    perform private.refuse_fields(jsonb_build_array(
      jsonb_build_object('path', path, 'code', 'invalid')));
  end if;
  return clean;
end
$$;
comment on function private.review_text is
  'A comment or reply without outer white space, null when nothing is left; else 422.';

create function private.create_review(
  identity_id uuid, rating integer, comment text, property_id uuid
) returns json
  language plpgsql
  security definer -- clients have no write grant on reviews
  set search_path = ''
as $$
declare
  author_id uuid := private.hold_identity();
  clean text := private.review_text(create_review.comment, 'comment');
  subject public.identities;
  review public.reviews;
  record json;
begin
  if rating is null or rating not between 1 and 5 then
    perform private.refuse_fields('[{"path":"rating","code":"invalid"}]');
  end if;
  select * into subject from public.identities
  where identities.id = create_review.identity_id;
  if subject.account_id = private.account_id() then
    perform private.refuse(422, 'review_self', '{"fields":[{"path":"identityId","code":"review_self"}]}');
  elsif not private.is_on_show(create_review.identity_id) then
    perform private.refuse(404, 'identity_not_found');
  elsif create_review.property_id is not null and not exists (
    select from public.properties
    where properties.id = create_review.property_id
      and properties.owner_identity_id = create_review.identity_id
      and private.may_see(properties, author_id)
  ) then
    perform private.refuse(404, 'property_not_found');
  elsif not private.have_been_in_contact(author_id, create_review.identity_id) then
    perform private.refuse(403, 'review_not_eligible');
  end if;

  insert into public.reviews (
    author_identity_id, subject_identity_id, property_id, rating, comment
  )
  values (
    author_id, create_review.identity_id, create_review.property_id, create_review.rating, clean
  )
  on conflict on constraint reviews_once_key do nothing
  returning * into review;
  if review.id is null then
    perform private.refuse(409, 'review_exists');
  end if;
  record := private.review_record(review, author_id);
  perform private.notify(subject.account_id, subject.id, 'review_new', review.id,
    jsonb_build_object('from', author_id, 'name', record #>> '{author,displayName}',
      'rating', review.rating));
  return record;
end
$$;
comment on function private.create_review is 'Writes a review; see the function of api.';

create function api.create_review(
  identity_id uuid, rating integer, comment text default null, property_id uuid default null
) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.create_review(
    create_review.identity_id, create_review.rating, create_review.comment,
    create_review.property_id);
end
$$;
comment on function api.create_review is
  'Reviews an identity after a real contact with it, once. 422 review_self, 404 identity_not_found, '
  '403 review_not_eligible, 409 review_exists.';

create function private.own_review(review_id uuid) returns public.reviews
  language plpgsql
  security definer -- locks a row; clients have no write grant
  set search_path = ''
as $$
declare
  author_id uuid := private.require_identity();
  review public.reviews;
begin
  select * into review from public.reviews
  where reviews.id = own_review.review_id and reviews.author_identity_id = author_id
  for update;
  if review.id is null then
    perform private.refuse(404, 'not_found');
  end if;
  return review;
end
$$;
comment on function private.own_review is
  'A review by the acting identity, locked. 404 not_found for another''s as for none.';

create function private.update_review(review_id uuid, fields jsonb) returns json
  language plpgsql
  security definer -- clients have no write grant on reviews
  set search_path = ''
as $$
declare
  review public.reviews := private.own_review(update_review.review_id);
begin
  if jsonb_typeof(fields) is distinct from 'object'
    or fields - array['rating', 'comment'] <> '{}'
    or coalesce(jsonb_typeof(fields -> 'comment'), 'null') not in ('string', 'null') then
    perform private.refuse_fields('[{"path":"","code":"invalid"}]');
  elsif fields ? 'rating' and (fields ->> 'rating' ~ '^[1-5]$') is not true then
    perform private.refuse_fields('[{"path":"rating","code":"invalid"}]');
  elsif review.created_at < now() - interval '48 hours' then
    perform private.refuse(409, 'review_edit_closed');
  end if;
  update public.reviews
  set rating = coalesce((fields ->> 'rating')::smallint, reviews.rating),
      comment = case when fields ? 'comment'
        then private.review_text(fields ->> 'comment', 'comment') else reviews.comment end,
      edited_at = clock_timestamp()
  where reviews.id = review.id
  returning * into review;
  return private.review_record(review, review.author_identity_id);
end
$$;
comment on function private.update_review is 'Changes a review; see the function of api.';

create function api.update_review(review_id uuid, fields jsonb) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.update_review(update_review.review_id, update_review.fields);
end
$$;
comment on function api.update_review is
  'Changes rating or comment of an own review: absent leaves, a null comment clears. 404 '
  'not_found, 409 review_edit_closed after 48 hours.';

create function private.delete_review(review_id uuid) returns void
  language plpgsql
  security definer -- clients have no write grant on reviews
  set search_path = ''
as $$
declare
  review public.reviews := private.own_review(delete_review.review_id);
begin
  delete from public.reviews where reviews.id = review.id;
end
$$;
comment on function private.delete_review is 'Takes a review back; see the function of api.';

create function api.delete_review(review_id uuid) returns void
  language plpgsql
  set search_path = ''
as $$
begin
  perform private.delete_review(delete_review.review_id);
end
$$;
comment on function api.delete_review is 'Takes an own review back. 404 not_found.';

create function private.reply_to_review(review_id uuid, body text) returns json
  language plpgsql
  security definer -- clients have no write grant on reviews
  set search_path = ''
as $$
declare
  subject_id uuid := private.require_identity();
  clean text := private.review_text(body, 'body');
  review public.reviews;
begin
  select * into review from public.reviews
  where reviews.id = reply_to_review.review_id and reviews.subject_identity_id = subject_id
    and reviews.listed
  for update;
  if clean is null then
    perform private.refuse_fields('[{"path":"body","code":"required"}]');
  elsif review.id is null then
    perform private.refuse(404, 'not_found');
  elsif review.replied_at < now() - interval '48 hours' then
    perform private.refuse(409, 'review_edit_closed');
  end if;
  update public.reviews
  set reply = clean, replied_at = coalesce(reviews.replied_at, clock_timestamp())
  where reviews.id = review.id
  returning * into review;
  return private.review_record(review, subject_id);
end
$$;
comment on function private.reply_to_review is 'Answers a review; see the function of api.';

create function api.reply_to_review(review_id uuid, body text) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.reply_to_review(reply_to_review.review_id, reply_to_review.body);
end
$$;
comment on function api.reply_to_review is
  'The one answer of whoever is reviewed; for 48 hours another one takes its place, then 409 '
  'review_edit_closed. 404 not_found for a review of somebody else.';

revoke execute on all functions in schema private, api from public;
grant execute on function private.list_reviews to anon, authenticated;
grant execute on function
  private.create_review, private.update_review, private.delete_review, private.reply_to_review
  to authenticated;
grant execute on function api.list_reviews to anon, authenticated;
grant execute on function
  api.create_review, api.update_review, api.delete_review, api.reply_to_review
  to authenticated;
