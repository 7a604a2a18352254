-- 12_reviews updates these counts, which the public pages of people and organisations show.

create table private.review_totals (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  histogram integer[] not null default '{0,0,0,0,0}' constraint review_totals_histogram_form
    check (cardinality(histogram) = 5 and 0 <= all (histogram))
);
comment on table private.review_totals is 'How often each rating was given. Deleted with the identity.';
comment on column private.review_totals.histogram is 'Counts of visible reviews rated 1 to 5.';
alter table private.review_totals enable row level security;
create policy "nobody but functions of their owner" on private.review_totals using (false);
