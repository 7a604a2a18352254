-- Reviews: what identities say of one another after a real contact. One by each account of each
-- subject.

create table public.reviews (
  id uuid primary key default gen_random_uuid(),
  author_account_id uuid not null references public.accounts (id) on delete cascade,
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
  constraint reviews_once_key unique (author_account_id, subject_identity_id)
);
comment on table public.reviews is
  'Reviews of identities by identities, at most one of each account and subject. Goes with the '
  'account.';
comment on column public.reviews.author_account_id is
  'Whose identity its author is; filled in by a trigger.';
comment on column public.reviews.comment is 'Null also once its author is deleted.';
comment on column public.reviews.created_at is 'It can be changed for 48 hours from then.';
comment on column public.reviews.replied_at is 'When the subject first answered.';
comment on column public.reviews.author_active is
  'False while its author is suspended or banned. The rating of a deleted author stays.';
comment on column public.reviews.hidden_at is 'When an admin hid it; null is shown.';
comment on column public.reviews.listed is 'Shown to everybody, and counted.';
create index reviews_subject_idx
  on public.reviews (subject_identity_id, listed, created_at desc, id desc);
create index reviews_author_idx on public.reviews (author_identity_id, subject_identity_id);
create index reviews_property_idx on public.reviews (property_id) where property_id is not null;

create table private.review_totals (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  histogram integer[] not null default '{0,0,0,0,0}' constraint review_totals_histogram_form
    check (cardinality(histogram) = 5 and 0 <= all (histogram))
);
comment on table private.review_totals is
  'How often an identity got each rating; kept by a trigger. Goes with the identity.';
comment on column private.review_totals.histogram is
  'How many shown reviews gave 1, 2, 3, 4 and 5.';

create table private.review_notices (
  author_account_id uuid not null references public.accounts (id) on delete cascade,
  subject_identity_id uuid not null references public.identities (id) on delete cascade,
  primary key (author_account_id, subject_identity_id)
);
comment on table private.review_notices is
  'Whose reviews of whom have been told: once, however often one is deleted and written again. Goes '
  'with the account.';
create index review_notices_subject_idx on private.review_notices (subject_identity_id);

alter table public.reviews enable row level security;
alter table private.review_notices enable row level security;
alter table private.review_totals enable row level security;
revoke all on public.reviews from anon, authenticated;
-- author_account_id is left out: whose other identities they are is nobody's to know.
grant select (id, author_identity_id, subject_identity_id, property_id, rating, comment, reply,
  created_at, edited_at, replied_at, author_active, hidden_at, listed)
  on public.reviews to authenticated;
create policy "people see reviews by their acting identity, and of it what is shown"
  on public.reviews for select to authenticated
  using (
    author_identity_id = (select private.identity_id())
    or listed and subject_identity_id = (select private.identity_id())
  );
create policy "nobody but functions of their owner" on private.review_totals using (false);
create policy "nobody but functions of their owner" on private.review_notices using (false);
