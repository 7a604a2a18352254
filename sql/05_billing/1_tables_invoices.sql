-- A confirmed payment marks an invoice as paid from any unpaid state, however late the payment
-- arrives.

create table public.invoices (
  id uuid primary key default gen_random_uuid(),
  year integer not null,
  serial integer not null,
  number text not null generated always as (
    'INV-' || year || '-' || lpad(serial::text, greatest(6, length(serial::text)), '0')
  ) stored,
  identity_id uuid not null references public.identities (id),
  account_id uuid not null references public.accounts (id),
  purpose text not null
    constraint invoices_purpose_is_known check (purpose in ('plan', 'topup', 'feature')),
  state text not null default 'open' constraint invoices_state_is_known check (state in (
    'open', 'processing', 'failed', 'expired', 'void', 'paid', 'partially_refunded', 'refunded'
  )),
  total private.kwd not null constraint invoices_total_is_positive check (total > 0),
  currency text not null default 'KWD'
    constraint invoices_currency_is_dinar check (currency = 'KWD'),
  issued_at timestamptz not null default now(),
  due_at timestamptz not null,
  paid_at timestamptz,
  paid_with text
    constraint invoices_paid_with_is_known check (paid_with in ('charge', 'wallet')),
  credited boolean not null default false,
  refunded private.kwd not null default 0,
  constraint invoices_year_and_serial_key unique (year, serial),
  constraint invoices_purpose_key unique (id, purpose),
  constraint invoices_paid_tells_when_and_how check (
    (state in ('paid', 'partially_refunded', 'refunded')) = (paid_at is not null)
    and (paid_at is null) = (paid_with is null)
  ),
  constraint invoices_refunded_fits_the_state check (
    case state
      when 'refunded' then refunded = total
      when 'partially_refunded' then refunded > 0 and refunded < total
      else refunded = 0
    end
  )
);
comment on table public.invoices is 'Invoices. Never purged: no number may be missing.';
comment on column public.invoices.year is 'The year of issue in Kuwait.';
comment on column public.invoices.serial is 'The number of the invoice in its year, without gaps.';
comment on column public.invoices.number is 'The number that people see, such as INV-2026-000123.';
comment on column public.invoices.state is 'private.invoice_steps lists the allowed transitions.';
comment on column public.invoices.total is 'The sum of the lines in KWD.';
comment on column public.invoices.due_at is
  'When the invoice expires, unless it is paid or a payment is in progress.';
comment on column public.invoices.paid_with is 'charge (at a payment provider) or wallet.';
comment on column public.invoices.credited is
  'Whether the amount was credited to the wallet, because the invoice was for a top-up or could '
  'not be delivered.';
create index invoices_identity_idx on public.invoices (identity_id, issued_at desc, id desc);
create index invoices_account_idx on public.invoices (account_id);
create index invoices_number_idx on public.invoices (number);
create index invoices_state_idx on public.invoices (state);
create index invoices_void_idx on public.invoices (issued_at) where state = 'void';
create index invoices_due_idx on public.invoices (due_at) where state in ('open', 'failed');

create table public.invoice_lines (
  invoice_id uuid not null references public.invoices (id),
  position integer not null constraint invoice_lines_position_is_positive check (position > 0),
  kind text not null,
  plan_id uuid references public.plans (id),
  terms jsonb,
  title_ar text not null,
  title_en text not null,
  quantity integer not null default 1
    constraint invoice_lines_quantity_range check (quantity between 1 and 1000000),
  unit_price private.kwd not null,
  amount private.kwd not null,
  primary key (invoice_id, position),
  constraint invoice_lines_kind_is_the_purpose
    foreign key (invoice_id, kind) references public.invoices (id, purpose),
  constraint invoice_lines_amount_is_the_product check (amount = quantity * unit_price),
  constraint invoice_lines_plan_is_named
    check ((kind = 'plan') = (plan_id is not null) and (plan_id is null) = (terms is null))
);
comment on table public.invoice_lines is
  'The items of invoices, which are delivered when the invoice is paid. Cleaned by '
  'private.purge_void_lines if void.';
comment on column public.invoice_lines.terms is
  'The plan''s price and quotas (private.plan_terms) when the invoice was issued. They apply no '
  'matter when the invoice is paid.';
create index invoice_lines_plan_idx on public.invoice_lines (plan_id);
create index invoice_lines_purpose_idx on public.invoice_lines (invoice_id, kind);

create table public.invoice_events (
  id bigint generated always as identity primary key,
  invoice_id uuid not null references public.invoices (id),
  from_state text,
  to_state text not null,
  at timestamptz not null default clock_timestamp()
);
comment on table public.invoice_events is
  'State changes of invoices. Never purged: financial records.';
create index invoice_events_invoice_idx on public.invoice_events (invoice_id, id);

create table private.invoice_numbers (
  year integer primary key,
  last integer not null
);
comment on table private.invoice_numbers is
  'The last invoice number of each year. If a transaction is rolled back, its number is used '
  'again. Never purged: one row per year.';

alter table public.invoices enable row level security;
alter table public.invoice_lines enable row level security;
alter table public.invoice_events enable row level security;
alter table private.invoice_numbers enable row level security;
create policy "nobody but functions of their owner" on private.invoice_numbers using (false);
revoke all on public.invoices, public.invoice_lines, public.invoice_events
  from anon, authenticated, service_role;
grant select on public.invoices, public.invoice_lines, public.invoice_events
  to authenticated, acting, service_role;
create policy "identities see their own invoices" on public.invoices
  for select to authenticated, acting
  using (identity_id = (select private.identity_id()));
grant update (state) on public.invoices to acting;
create policy "identities pay their own invoices" on public.invoices for update to acting
  using (identity_id = (select private.identity_id()));
create policy "identities see lines of their own invoices" on public.invoice_lines
  for select to authenticated, acting
  using (exists (
    select from public.invoices
    where invoices.id = invoice_lines.invoice_id
      and invoices.identity_id = (select private.identity_id())
  ));
create policy "identities see the states of their own invoices" on public.invoice_events
  for select to authenticated, acting
  using (exists (
    select from public.invoices
    where invoices.id = invoice_events.invoice_id
      and invoices.identity_id = (select private.identity_id())
  ));

create table public.receipts (
  invoice_id uuid primary key references public.invoices (id),
  payer_name text not null,
  receipt json not null,
  made_at timestamptz not null default now()
);
comment on table public.receipts is
  'Receipts, as they were when the invoice was paid. Never purged: financial records.';
comment on column public.receipts.payer_name is
  'Replaced with "deleted account" when the identity is closed.';
comment on column public.receipts.receipt is 'Everything else that is printed on the receipt.';
alter table public.receipts enable row level security;
revoke all on public.receipts from anon, authenticated, service_role;
grant select on public.receipts to authenticated, acting, service_role;
create policy "identities see their own receipts" on public.receipts
  for select to authenticated, acting
  using (exists (
    select from public.invoices
    where invoices.id = receipts.invoice_id
      and invoices.identity_id = (select private.identity_id())
  ));
create trigger receipts_stay
  before delete or truncate on public.receipts
  for each statement execute function private.refuse_rewriting();
