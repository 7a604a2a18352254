-- Averages change in the transaction of the review, one after another for a subject: they are exact
-- whatever happens at once.

create function private.rating_totals(
  histogram integer[], out count integer, out average numeric
)
  language sql
  immutable
  set search_path = ''
as $$
  select
    sum(given)::integer, round(sum(given * rating)::numeric / nullif(sum(given), 0), 2)
  from unnest(histogram) with ordinality as ratings (given, rating)
$$;
comment on function private.rating_totals is
  'How many ratings there are, and their average to two places; null where there is none.';

create function private.count_rating(identity_id uuid, rating integer, change integer) returns void
  language plpgsql
  security definer -- writes closed tables
  set search_path = ''
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
comment on function private.count_rating is
  'Adds (1) or takes away (-1) a rating of an identity, and updates its average.';

create function private.count_review() returns trigger
  language plpgsql
  security definer -- writes closed tables, for whoever changes a review
  set search_path = ''
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
comment on function private.count_review is 'Keeps private.review_totals and the ratings of pages.';

create trigger reviews_are_counted_in_and_out
  after insert or delete on public.reviews
  for each row execute function private.count_review();
create trigger reviews_are_counted
  after update on public.reviews
  for each row when ((old.listed, old.rating) is distinct from (new.listed, new.rating))
  execute function private.count_review();
