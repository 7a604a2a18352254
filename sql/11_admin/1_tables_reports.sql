create table public.reports (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  target_type text not null,
  target_id uuid not null,
  conversation_id uuid,
  reason text not null,
  note text constraint reports_note_form check (
    char_length(note) between 1 and 1000 and private.is_clean(note)
  ),
  status text not null default 'open'
    constraint reports_status_is_known check (status in ('open', 'upheld', 'dismissed')),
  status_reason text,
  created_at timestamptz not null default clock_timestamp(),
  decided_at timestamptz,
  constraint reports_once_key unique (account_id, target_type, target_id),
  constraint reports_of_messages_know_where check (
    (target_type = 'message') = (conversation_id is not null))
);
comment on table public.reports is 'Each account reports a thing once. Deleted with the account.';
comment on column public.reports.target_type is 'A code of the vocabulary report_target.';
comment on column public.reports.reason is 'A code of the vocabulary report_reason.';
comment on column public.reports.note is 'What the reporter wrote; deleted with the account.';
comment on column public.reports.status is 'open, upheld (the report was right) or dismissed.';
create index reports_identity_idx on public.reports (identity_id);
create index reports_target_idx on public.reports (target_type, target_id, status);
create index reports_open_idx on public.reports (created_at, id) where status = 'open';
alter table public.reports enable row level security;
revoke all on public.reports from anon, authenticated;
grant select, insert on public.reports to acting;
create policy "people report and see their own reports" on public.reports to acting
  using (account_id = (select private.account_id()));
