create table public.admins (
  account_id uuid primary key references public.accounts (id) on delete cascade,
  role text not null default 'admin' constraint admins_role_is_known check (role = 'admin'),
  created_at timestamptz not null default now()
);
comment on table public.admins is
  'The administrators. Rows are added and removed in Studio or with SQL; the last one cannot be '
  'removed. Deleted with the account.';
comment on column public.admins.role is
  'Always admin, the role that may use every route under /admin.';
alter table public.admins enable row level security;
revoke all on public.admins from anon, authenticated, service_role;
grant select on public.admins to service_role;
