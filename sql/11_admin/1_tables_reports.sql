-- Reports: what people tell admins of a listing, an advertiser, a message or a review.
--
-- An account reports a thing once, whichever identity it acts as. Admins find reports among what
-- waits for them (4_reads_moderation.sql).

create table public.reports (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  target_type text not null,
  target_id uuid not null,
  reason text not null,
  note text constraint reports_note_form check (
    char_length(note) between 1 and 1000 and private.is_clean(note)
  ),
  status text not null default 'open'
    constraint reports_status_is_known check (status in ('open', 'upheld', 'dismissed')),
  status_reason text,
  created_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  constraint reports_once_key unique (account_id, target_type, target_id)
);
comment on table public.reports is 'What people report to admins; each account a thing once.';
comment on column public.reports.id is 'Its id.';
comment on column public.reports.account_id is 'Who reports.';
comment on column public.reports.identity_id is 'Acting as whom.';
comment on column public.reports.target_type is 'Vocabulary report_target.';
comment on column public.reports.target_id is 'The listing, identity, message or review.';
comment on column public.reports.reason is 'Vocabulary report_reason.';
comment on column public.reports.note is 'In the reporter''s words; gone when the account is deleted.';
comment on column public.reports.status is 'open, upheld (it was right) or dismissed.';
comment on column public.reports.status_reason is 'Why it was decided so.';
comment on column public.reports.created_at is 'When.';
comment on column public.reports.decided_at is 'When an admin decided.';
create index reports_identity_idx on public.reports (identity_id);
create index reports_target_idx on public.reports (target_type, target_id);
create index reports_open_idx on public.reports (created_at, id) where status = 'open';
alter table public.reports enable row level security;
revoke all on public.reports from anon, authenticated;
create policy "nobody but functions of their owner" on public.reports using (false);
