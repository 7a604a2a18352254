create table public.reports (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  target_type text not null,
  target_id uuid not null,
  conversation_id uuid,
  part text,
  reported_identity_id uuid not null references public.identities (id) on delete cascade,
  stored_content jsonb,
  content_hash text not null,
  reason text not null,
  note text constraint reports_note_form check (
    char_length(note) between 1 and 1000 and private.is_clean(note)
  ),
  status text not null default 'open'
    constraint reports_status_is_known check (status in ('open', 'upheld', 'dismissed')),
  status_reason text,
  created_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  constraint reports_of_messages_know_where check (
    (target_type = 'message') = (conversation_id is not null)),
  constraint reports_part_is_of_a_message check (
    part is null or part = 'picture' and target_type = 'message')
);
comment on table public.reports is
  'Reports, with a copy of the reported content, which private.empty_reports removes. Deleted with '
  'the account.';
comment on column public.reports.target_type is 'A code of the vocabulary report_target.';
comment on column public.reports.part is 'picture if only a message''s picture is reported; else null.';
comment on column public.reports.stored_content is
  'A copy of the reported content, made by private.reported_content. Its pictures are kept until '
  'the copy is removed, but the picture of a message only until the report is upheld.';
comment on column public.reports.content_hash is
  'The hash of stored_content. It is never removed, so that a new report of unchanged content can '
  'be refused.';
comment on column public.reports.reason is 'A code of the vocabulary report_reason.';
comment on column public.reports.note is 'The reporter''s remark; deleted with the account.';
comment on column public.reports.status is 'open, upheld (the report was right) or dismissed.';
create unique index reports_open_once_key on public.reports (account_id, target_type, target_id)
  where status = 'open';
create index reports_account_idx on public.reports (account_id, created_at desc, id desc);
create index reports_identity_idx on public.reports (identity_id);
create index reports_reported_idx on public.reports (reported_identity_id);
create index reports_stored_idx on public.reports (decided_at) where stored_content is not null;
create index reports_pictures_idx on public.reports using gin ((stored_content -> 'pictures'));
create index reports_target_idx on public.reports (target_type, target_id, status);
-- The daily figures use these two.
create index reports_created_idx on public.reports (created_at);
create index reports_decided_idx on public.reports (decided_at) where decided_at is not null;
create index reports_open_idx on public.reports (created_at, id) where status = 'open';
alter table public.reports enable row level security;
revoke all on public.reports from anon, authenticated;
grant select, insert on public.reports to acting;
create policy "people report and see their own reports" on public.reports to acting
  using (account_id = (select private.account_id()));
