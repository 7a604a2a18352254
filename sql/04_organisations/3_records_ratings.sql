create function private.rating_totals(
  histogram integer[], out count integer, out average numeric
)
  language sql immutable set search_path = ''
as $$
  select
    sum(given)::integer, round(sum(given * rating)::numeric / nullif(sum(given), 0), 2)
  from unnest(histogram) with ordinality as ratings (given, rating)
$$;

create function private.review_summary(identity_id uuid) returns json
  language plpgsql stable
  security definer -- reads public sums from a table closed to clients
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
