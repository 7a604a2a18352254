-- A review, and the summary of all reviews of an identity.

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

create function private.review_summary(identity_id uuid) returns json
  language plpgsql
  stable
  security definer -- reads a closed table: sums of what everybody may read
  set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'average', totals.average,
      'count', totals.count,
      'histogram', json_build_object(
        '1', ratings[1], '2', ratings[2], '3', ratings[3], '4', ratings[4], '5', ratings[5])
    )
    from coalesce(
      (
        select review_totals.histogram from private.review_totals
        where review_totals.identity_id = review_summary.identity_id
      ),
      '{0,0,0,0,0}'
    ) as ratings
    cross join lateral private.rating_totals(ratings) as totals
  );
end
$$;
comment on function private.review_summary is
  'Average, count and histogram of an identity''s reviews.';
