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
comment on table public.reviews is 'One review per account and identity. Deleted with the account.';
comment on column public.reviews.author_account_id is 'The author''s account; set by a trigger.';
comment on column public.reviews.comment is 'Null if the author wrote none or has been closed.';
comment on column public.reviews.created_at is
  'When the review was written. The author can edit it for 48 hours.';
comment on column public.reviews.replied_at is 'When the reviewed identity first replied.';
comment on column public.reviews.author_active is
  'False while the author''s identity is suspended or closing, or its account may not act or has '
  'no proven phone or email.';
comment on column public.reviews.hidden_at is
  'When an admin hid the review; null if it is visible.';
comment on column public.reviews.listed is
  'Whether the review is visible to everybody and counts in the average.';
create index reviews_subject_idx
  on public.reviews (subject_identity_id, listed, created_at desc, id desc);
create index reviews_author_idx on public.reviews (author_identity_id, subject_identity_id);
create index reviews_property_idx on public.reviews (property_id) where property_id is not null;

create table private.review_notices (
  author_account_id uuid not null references public.accounts (id) on delete cascade,
  subject_identity_id uuid not null references public.identities (id) on delete cascade,
  hidden_at timestamptz,
  primary key (author_account_id, subject_identity_id)
);
comment on table private.review_notices is
  'One row for each author whose review an identity was notified of, so that a later review by the '
  'same author does not notify it again. Deleted with the account.';
comment on column private.review_notices.hidden_at is
  'When the author''s review was hidden. It stays even if the review is deleted: the author cannot '
  'write another for two years.';
create index review_notices_subject_idx on private.review_notices (subject_identity_id);

create table private.closed_licences (
  identity_id uuid primary key references public.identities (id) on delete cascade,
  account_id uuid not null references public.accounts (id) on delete cascade,
  licence_no text not null,
  closed_at timestamptz not null default now()
);
comment on table private.closed_licences is
  'The licences of closed companies and offices. If the same account gets a verified identity with '
  'the licence, the reviews move to it. Cleaned by private.purge_closed_licences, and deleted with '
  'the account.';
create index closed_licences_account_idx on private.closed_licences (account_id, licence_no);
create index closed_licences_closed_at_idx on private.closed_licences (closed_at);
alter table private.closed_licences enable row level security;
grant select on private.closed_licences to acting;
create policy "people see what is kept of their own" on private.closed_licences
  for select to acting using (account_id = (select private.account_id()));

alter table public.reviews enable row level security;
alter table private.review_notices enable row level security;
revoke all on public.reviews from anon, authenticated;
-- author_account_id is left out, because it would reveal the author's other identities.
grant select (id, author_identity_id, subject_identity_id, property_id, rating, comment, reply,
  created_at, edited_at, replied_at, author_active, hidden_at, listed)
  on public.reviews to authenticated;
create policy "identities see their own reviews, and shown ones of them"
  on public.reviews for select to authenticated
  using (
    author_identity_id = (select private.identity_id())
    or listed and subject_identity_id = (select private.identity_id())
  );
grant select, insert, delete, update (rating, comment, edited_at, reply, replied_at)
  on public.reviews to acting;
create policy "people see listed reviews, and those by their acting identity"
  on public.reviews for select to acting
  using (listed or author_identity_id = (select private.identity_id()));
create policy "identities review for themselves" on public.reviews for insert to acting
  with check (author_identity_id = (select private.identity_id()));
create policy "identities change their own reviews, and reply" on public.reviews for update to acting
  using (
    author_identity_id = (select private.identity_id())
    or subject_identity_id = (select private.identity_id())
  );
create policy "identities delete their own reviews" on public.reviews for delete to acting
  using (author_identity_id = (select private.identity_id()));
grant insert, select on private.review_notices to acting;
create policy "people know of their own hidden reviews" on private.review_notices
  for select to acting
  using (author_account_id = (select private.account_id()));
create policy "people note their own reviews" on private.review_notices for insert to acting
  with check (author_account_id = (select private.account_id()));
