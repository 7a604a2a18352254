-- Money of deleted accounts: what is owed to people who are gone. It lies in the system account
-- payouts until its row is refunded, paid out or written off.

create table public.wallet_payouts (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null references public.accounts (id),
  amount private.kwd not null constraint wallet_payouts_amount_is_positive check (amount > 0),
  state text not null constraint wallet_payouts_state_is_known
    check (state in ('at_provider', 'open', 'refunded', 'paid_out', 'written_off')),
  name text,
  phone text,
  email text,
  note text constraint wallet_payouts_note_length check (char_length(note) between 1 and 500),
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  constraint wallet_payouts_decided_tells_when
    check ((state in ('at_provider', 'open')) = (decided_at is null)),
  constraint wallet_payouts_decided_names_nobody
    check (decided_at is null or num_nonnulls(name, phone, email) = 0)
);
comment on table public.wallet_payouts is
  'Money of a deleted account: a row for each payment that it goes back to, and one for the rest. '
  'Whose it is goes when it is decided, after 180 days at the latest (private.forget_payouts). Stays: '
  'books are kept.';
comment on column public.wallet_payouts.id is
  'Where it goes back to a payment, the id of the refund.';
comment on column public.wallet_payouts.state is
  'at_provider: a refund is under way; open: an admin decides; refunded, paid_out, written_off.';
comment on column public.wallet_payouts.name is 'Whose it is, until it is decided.';
comment on column public.wallet_payouts.phone is 'Proven, until it is decided.';
comment on column public.wallet_payouts.email is 'Proven, until it is decided.';
comment on column public.wallet_payouts.note is
  'The reference of the transfer that paid it out, or why it was written off.';
create index wallet_payouts_account_idx on public.wallet_payouts (account_id);
create index wallet_payouts_created_idx on public.wallet_payouts (created_at, id)
  where state in ('at_provider', 'open');
create index wallet_payouts_name_idx on public.wallet_payouts ((coalesce(name, '')), id)
  where state in ('at_provider', 'open');
create trigger wallet_payouts_stay
  before delete or truncate on public.wallet_payouts
  for each statement execute function private.refuse_rewriting();
alter table public.wallet_payouts enable row level security;
revoke all on public.wallet_payouts from anon, authenticated, service_role;
grant select on public.wallet_payouts to service_role;
create policy "nobody but functions of their owner" on public.wallet_payouts using (false);
