-- The average is updated in the same transaction as the review, under a row lock per reviewed identity.

create function private.count_rating(identity_id uuid, rating integer, change integer) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  ratings integer[];
begin
  insert into private.review_totals (identity_id) values (count_rating.identity_id)
  on conflict do nothing;
  update private.review_totals
  set histogram[rating] = review_totals.histogram[rating] + change
  where review_totals.identity_id = count_rating.identity_id
  returning review_totals.histogram into ratings;

  update public.organisations
  set rating_count = totals.count, rating_avg = totals.average
  from private.rating_totals(ratings) as totals
  where organisations.identity_id = count_rating.identity_id;
end
$$;

create function private.count_review() returns trigger
  language plpgsql security definer set search_path = ''
as $$
begin
  if tg_op <> 'INSERT' and old.listed then
    perform private.count_rating(old.subject_identity_id, old.rating, -1);
  end if;
  if tg_op <> 'DELETE' and new.listed then
    perform private.count_rating(new.subject_identity_id, new.rating, 1);
  end if;
  return null;
end
$$;
comment on function private.count_review is
  'Updates review_totals and the rating of the organisation.';

create trigger reviews_are_counted_in_and_out
  after insert or delete on public.reviews
  for each row execute function private.count_review();
create trigger reviews_are_counted
  after update on public.reviews
  for each row when (
    (old.listed, old.rating, old.subject_identity_id)
      is distinct from (new.listed, new.rating, new.subject_identity_id)
  )
  execute function private.count_review();
