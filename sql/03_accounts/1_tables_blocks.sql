-- A block applies to the account behind an identity, so switching identities does not evade it.

create table public.blocks (
  account_id uuid not null references public.accounts (id) on delete cascade,
  identity_id uuid not null references public.identities (id) on delete cascade,
  blocked_account_id uuid not null references public.accounts (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (account_id, identity_id),
  constraint blocks_is_of_somebody_else check (blocked_account_id <> account_id)
);
comment on table public.blocks is 'Identities that an account blocked. Deleted with the account.';
comment on column public.blocks.blocked_account_id is 'The account behind the blocked identity.';
create index blocks_newest_idx
  on public.blocks (account_id, created_at desc, identity_id desc);
create index blocks_of_idx on public.blocks (blocked_account_id, account_id);
create index blocks_identity_idx on public.blocks (identity_id);

alter table public.blocks enable row level security;
revoke all on public.blocks from anon, authenticated;
-- Clients must not see which account is behind an identity.
grant select (account_id, identity_id, created_at) on public.blocks to authenticated;
grant select, insert, delete on public.blocks to acting;
create policy "people see whom they blocked" on public.blocks
  for select to authenticated, acting
  using (account_id = (select private.account_id()));
create policy "people unblock for themselves" on public.blocks for delete to acting
  using (account_id = (select private.account_id()));
create policy "people block for themselves" on public.blocks for insert to acting
  with check (account_id = (select private.account_id()));
