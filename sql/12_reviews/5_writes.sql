create function private.review_subject(identity_id uuid) returns public.identities
  language plpgsql stable
  security definer -- reads the account of the reviewed identity, to notify it
  set search_path = ''
as $$
declare
  subject public.identities;
begin
  select * into subject from public.identities where identities.id = review_subject.identity_id;
  return subject;
end
$$;

create function private.create_review(
  identity_id uuid, rating integer, comment text, property_id uuid
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  author_id uuid := private.lock_identity();
  clean text := private.clean_review_text(create_review.comment, 'comment');
  subject public.identities := private.review_subject(create_review.identity_id);
  is_first boolean;
  review public.reviews;
  record json;
begin
  perform private.check_rating(to_jsonb(rating));
  perform private.check_may_review(author_id, subject, create_review.property_id);
  if exists (
    select from private.review_notices
    where review_notices.author_account_id = private.account_id()
      and review_notices.subject_identity_id = subject.id
      and review_notices.hidden_at > now() - interval '2 years'
  ) then
    perform private.refuse(403, 'review_hidden');
  end if;

  insert into private.review_notices (author_account_id, subject_identity_id)
  values (private.account_id(), subject.id)
  on conflict do nothing;
  is_first := found;
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
  if is_first then
    perform private.notify(subject.account_id, subject.id, 'review_new', review.id,
      jsonb_build_object('by', private.account_id(), 'from', author_id,
        'name', record #>> '{author,displayName}', 'rating', review.rating));
  end if;
  return record;
end
$$;

create function api.create_review(
  identity_id uuid, rating integer, comment text default null, property_id uuid default null
) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.require_terms();
  perform private.count_action('reviews');
  return private.create_review(
    create_review.identity_id, create_review.rating, create_review.comment,
    create_review.property_id);
end
$$;
comment on function api.create_review is
  'Adds a review of an identity that the caller has been in contact with; one review per identity. '
  '422 review_self, 404 identity_not_found, property_not_found, 403 terms_not_accepted, '
  'account_unproven, review_not_eligible, review_hidden, 409 review_exists.';

create function private.lock_own_review(review_id uuid) returns public.reviews
  language plpgsql set search_path = ''
as $$
declare
  author_id uuid := private.lock_identity();
  review public.reviews;
begin
  select * into review from public.reviews
  where reviews.id = lock_own_review.review_id and reviews.author_identity_id = author_id
  for update;
  if review.id is null then
    perform private.refuse(404, 'not_found');
  end if;
  return review;
end
$$;

create function private.update_review(review_id uuid, fields jsonb) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  review public.reviews := private.lock_own_review(update_review.review_id);
begin
  fields := private.given_fields(fields, '{comment}');
  if jsonb_typeof(fields) is distinct from 'object'
    or fields - array['rating', 'comment'] <> '{}'
    or coalesce(jsonb_typeof(fields -> 'comment'), 'null') not in ('string', 'null') then
    perform private.refuse_field('', 'invalid');
  elsif fields ? 'rating' then
    perform private.check_rating(fields -> 'rating');
  end if;
  if review.created_at < now() - interval '48 hours' then
    perform private.refuse(409, 'review_edit_closed');
  end if;
  update public.reviews
  set rating = coalesce((fields ->> 'rating')::smallint, reviews.rating),
      comment = case when fields ? 'comment'
        then private.clean_review_text(fields ->> 'comment', 'comment') else reviews.comment end,
      edited_at = clock_timestamp()
  where reviews.id = review.id
  returning * into review;
  return private.review_record(review, review.author_identity_id);
end
$$;

create function api.update_review(review_id uuid, fields jsonb) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.require_terms();
  perform private.count_action('review_edits');
  return private.update_review(update_review.review_id, update_review.fields);
end
$$;
comment on function api.update_review is
  'Changes the rating or comment. Fields that are absent are kept; null removes the comment. 403 '
  'terms_not_accepted, 404 not_found, 409 review_edit_closed after 48 hours.';

create function private.delete_review(review_id uuid) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  review public.reviews := private.lock_own_review(delete_review.review_id);
begin
  delete from public.reviews where reviews.id = review.id;
end
$$;

create function api.delete_review(review_id uuid) returns void
  language plpgsql set search_path = ''
as $$
begin
  perform private.count_action('review_edits');
  perform private.delete_review(delete_review.review_id);
end
$$;
comment on function api.delete_review is 'Deletes a review of the acting identity. 404 not_found.';

create function private.reply_to_review(review_id uuid, body text) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  subject_id uuid := private.lock_identity();
  clean text := private.clean_review_text(body, 'body');
  review public.reviews;
begin
  select * into review from public.reviews
  where reviews.id = reply_to_review.review_id and reviews.subject_identity_id = subject_id
    and reviews.listed
  for update;
  if clean is null then
    perform private.refuse_field(
      'body', case when body is null then 'required' else 'too_short' end, fewest => 1);
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

create function api.reply_to_review(review_id uuid, body text) returns json
  language plpgsql set search_path = ''
as $$
begin
  perform private.require_terms();
  perform private.count_action('review_edits');
  return private.reply_to_review(reply_to_review.review_id, reply_to_review.body);
end
$$;
comment on function api.reply_to_review is
  'Adds the reply of the reviewed identity, at most one per review. It can be replaced for 48 '
  'hours, then 409 review_edit_closed. 403 terms_not_accepted, 404 not_found for a review of '
  'another identity.';

grant execute on function
  private.create_review, private.update_review, private.delete_review, private.reply_to_review
  to authenticated;
grant execute on function
  api.create_review, api.update_review, api.delete_review, api.reply_to_review
  to authenticated;
