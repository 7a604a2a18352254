-- Reviews: what identities say of one another after a real contact.
--
-- One by each author of each subject. The author changes it for 48 hours and may take it back at any
-- time; the subject answers. Averages are kept with the review that changes them, one after another
-- for a subject, so they are exact whatever happens at once.

create table public.reviews (
  id uuid primary key default gen_random_uuid(),
  author_identity_id uuid not null references public.identities (id) on delete cascade,
  subject_identity_id uuid not null references public.identities (id) on delete cascade,
  property_id uuid references public.properties (id) on delete set null,
  rating smallint not null constraint reviews_rating_range check (rating between 1 and 5),
  comment text constraint reviews_comment_form check (
    char_length(comment) between 1 and 1000 and private.is_clean(comment)
  ),
  reply text constraint reviews_reply_form check (
    char_length(reply) between 1 and 1000 and private.is_clean(reply)
  ),
  created_at timestamptz not null default clock_timestamp(),
  edited_at timestamptz,
  replied_at timestamptz,
  author_active boolean not null default true,
  hidden_at timestamptz,
  listed boolean not null generated always as (author_active and hidden_at is null) stored,
  constraint reviews_are_of_others check (author_identity_id <> subject_identity_id),
  constraint reviews_once_key unique (author_identity_id, subject_identity_id)
);
comment on table public.reviews is 'What an identity says of another one, at most once.';
comment on column public.reviews.id is 'Its id.';
comment on column public.reviews.author_identity_id is 'Who says it.';
comment on column public.reviews.subject_identity_id is 'Of whom: a company, an office, an individual.';
comment on column public.reviews.property_id is 'About which listing, if it names one.';
comment on column public.reviews.rating is '1 to 5.';
comment on column public.reviews.comment is 'At most 1000 characters; null once its author is deleted.';
comment on column public.reviews.reply is 'The answer of the subject.';
comment on column public.reviews.created_at is 'When; it can be changed for 48 hours.';
comment on column public.reviews.edited_at is 'When its author last changed it.';
comment on column public.reviews.replied_at is 'When the subject first answered.';
comment on column public.reviews.author_active is
  'Its author is not suspended or banned; kept by triggers. A deleted author''s rating stays.';
comment on column public.reviews.hidden_at is 'When an admin hid it; null is shown.';
comment on column public.reviews.listed is 'Everybody sees it, and it counts.';
create index reviews_subject_idx
  on public.reviews (subject_identity_id, listed, created_at desc, id desc);
create index reviews_property_idx on public.reviews (property_id) where property_id is not null;

create table private.review_totals (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  histogram integer[] not null default '{0,0,0,0,0}' constraint review_totals_histogram_form
    check (cardinality(histogram) = 5 and 0 <= all (histogram))
);
comment on table private.review_totals is 'How often an identity got each rating; kept by a trigger.';
comment on column private.review_totals.identity_id is 'Who was reviewed.';
comment on column private.review_totals.histogram is 'Reviews with 1, 2, 3, 4 and 5 that are shown.';

alter table public.reviews enable row level security;
alter table private.review_totals enable row level security;
revoke all on public.reviews from anon, authenticated;
grant select on public.reviews to authenticated;
create policy "people see reviews by their acting identity, and of it what is shown"
  on public.reviews for select to authenticated
  using (
    author_identity_id = (select private.identity_id())
    or listed and subject_identity_id = (select private.identity_id())
  );
create policy "nobody but functions of their owner" on private.review_totals using (false);

-- Counting ---------------------------------------------------------------------------------------

create function private.count_rating(identity_id uuid, rating integer, more integer) returns void
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
  set histogram[rating] = review_totals.histogram[rating] + more
  where review_totals.identity_id = count_rating.identity_id
  returning review_totals.histogram into ratings;

  update public.organisations
  set rating_count = totals.count, rating_avg = totals.average
  from private.rating_totals(ratings) as totals
  where organisations.identity_id = count_rating.identity_id;
end
$$;
comment on function private.count_rating is
  'One rating more (1) or less (-1) for an identity, and its average with it.';

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
comment on function private.review_summary is 'Average, count and histogram of an identity''s reviews.';

create trigger reviews_are_audited
  after update of hidden_at on public.reviews
  for each row when (old.hidden_at is distinct from new.hidden_at)
  execute function private.audit_change('review.hidden', 'review', 'hidden_at');

-- Authors that go ---------------------------------------------------------------------------------

create function private.follow_author(identity_id uuid) returns void
  language plpgsql
  security definer -- writes reviews of whoever's state changed
  set search_path = ''
as $$
declare
  author record;
  review_id uuid;
begin
  select
    identities.status = 'closed' as closed,
    identities.status <> 'suspended' and private.may_act(accounts) as active
  into author
  from public.identities
  join public.accounts on accounts.id = identities.account_id
  where identities.id = follow_author.identity_id;
  -- By subject: two authors who go at once change the same averages in the same order.
  for review_id in
    select reviews.id from public.reviews
    where reviews.author_identity_id = follow_author.identity_id
    order by reviews.subject_identity_id
  loop
    -- The rating of a deleted account stays as it was when it went, its words do not.
    update public.reviews
    set author_active = case when author.closed then reviews.author_active else author.active end,
        comment = case when author.closed then null else reviews.comment end
    where reviews.id = review_id;
  end loop;
  if author.closed then
    update public.reviews set reply = null, replied_at = null
    where reviews.subject_identity_id = follow_author.identity_id and reviews.reply is not null;
  end if;
end
$$;
comment on function private.follow_author is
  'Reviews by a suspended or banned author are not shown; of a deleted one only the rating stays.';

create function private.on_author_identity() returns trigger
  language plpgsql
  security definer -- writes reviews of whoever's state changed
  set search_path = ''
as $$
begin
  perform private.follow_author(new.id);
  return null;
end
$$;
comment on function private.on_author_identity is 'Reviews follow the state of their author.';

create trigger identities_take_their_reviews_along
  after update of status on public.identities
  for each row when (old.status is distinct from new.status)
  execute function private.on_author_identity();

create function private.on_author_account() returns trigger
  language plpgsql
  security definer -- reads identities of whoever's state changed
  set search_path = ''
as $$
begin
  -- Deletion closes the identities, and that is what counts then.
  if new.status <> 'deleted' then
    perform private.follow_author(identities.id)
    from public.identities
    where identities.account_id = new.id;
  end if;
  return null;
end
$$;
comment on function private.on_author_account is 'Reviews follow the account behind their author.';

create trigger accounts_take_their_reviews_along
  after update of status, suspended_until on public.accounts
  for each row when (
    (old.status, old.suspended_until) is distinct from (new.status, new.suspended_until)
  )
  execute function private.on_author_account();

revoke execute on all functions in schema private from public;
