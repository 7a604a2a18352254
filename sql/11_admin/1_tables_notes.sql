create table public.notes (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id) on delete cascade,
  target_type text not null constraint notes_target_is_known check (
    target_type in ('account', 'identity', 'property', 'report', 'duplicate', 'payout')),
  target_id uuid not null,
  by_id uuid not null,
  body text not null constraint notes_body_form check (
    char_length(body) between 1 and 1000 and private.is_clean(body)),
  created_at timestamptz not null default clock_timestamp()
);
comment on table public.notes is
  'Administrators'' notes for each other about a person, a listing or a case. A note is deleted '
  'when its identity is closed, its listing or pair of duplicates is deleted, or the content of '
  'its report or the personal data of its payout is removed. Deleted with the account.';
comment on column public.notes.account_id is 'The account that the note is about.';
comment on column public.notes.by_id is 'The administrator who wrote it.';
create index notes_account_idx on public.notes (account_id, created_at, id);
create index notes_target_idx on public.notes (target_id, created_at, id);
create index notes_newest_idx on public.notes (created_at, id);
alter table public.notes enable row level security;
revoke all on public.notes from anon, authenticated, service_role;
