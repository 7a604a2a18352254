create function private.review_record(review public.reviews, viewer_identity_id uuid) returns json
  language plpgsql stable
  security definer -- reads the names of other people
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
        'displayName', private.shown_name(identities),
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
