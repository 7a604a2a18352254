create table public.payments (
  id uuid primary key default gen_random_uuid(),
  invoice_id uuid not null references public.invoices (id),
  provider text not null
    constraint payments_provider_is_known check (provider in ('tap', 'myfatoorah', 'sandbox')),
  mode text not null constraint payments_mode_is_known check (mode in ('live', 'test')),
  state text not null default 'starting' constraint payments_state_is_known check (
    state in ('starting', 'open', 'superseded', 'failed', 'captured', 'surplus')
  ),
  amount private.kwd not null constraint payments_amount_is_positive check (amount > 0),
  currency text not null default 'KWD'
    constraint payments_currency_is_dinar check (currency = 'KWD'),
  return_url text not null,
  redirect_url text,
  provider_ref text,
  provider_payment_id text,
  details jsonb not null default '{}',
  created_at timestamptz not null default now(),
  requested_at timestamptz not null default clock_timestamp(),
  looked_up_at timestamptz,
  captured_at timestamptz,
  constraint payments_ref_key unique (provider, provider_ref),
  constraint payments_provider_payment_key unique (provider, provider_payment_id),
  constraint payments_captured_tells_when check (
    (state in ('captured', 'surplus')) = (captured_at is not null)
  )
);
comment on table public.payments is
  'Attempts to pay an invoice at a provider. Never purged: financial records.';
comment on column public.payments.id is 'Also sent to the provider as our reference.';
comment on column public.payments.mode is
  'live or test. A response of the provider in the other mode is rejected.';
comment on column public.payments.state is
  'starting: the provider has not responded yet; superseded: replaced by another attempt; surplus: '
  'captured after the invoice had already been paid.';
comment on column public.payments.amount is
  'The total of the invoice in KWD, never an amount from the client.';
comment on column public.payments.provider_payment_id is
  'The provider''s id of the captured payment. It is unique, so that the money is booked only '
  'once.';
comment on column public.payments.details is
  'Payment method, track id and reference ids, for the receipt.';
comment on column public.payments.requested_at is 'When the charge was last requested.';
comment on column public.payments.looked_up_at is
  'When the payment was last claimed for a look-up at the provider, by a job or because somebody '
  'requested its status.';
create unique index payments_one_open_key on public.payments (invoice_id)
  where state in ('starting', 'open');
create index payments_invoice_idx on public.payments (invoice_id, created_at);
create index payments_waiting_idx on public.payments (created_at)
  where state in ('starting', 'open', 'superseded');

create table public.payment_events (
  id bigint generated always as identity primary key,
  provider text not null,
  event_key text not null,
  kind text not null constraint payment_events_kind_is_known
    check (kind in ('payment', 'refund', 'look_up', 'other')),
  payment_id uuid references public.payments (id),
  status text,
  amount numeric,
  currency text,
  payload_sha256 text,
  outcome text not null default 'received' constraint payment_events_outcome_is_known check (
    outcome in ('received', 'paid', 'failed', 'refunded', 'surplus', 'pending', 'repeated',
      'mismatch', 'unmatched', 'ignored')
  ),
  received_at timestamptz not null default clock_timestamp(),
  processed_at timestamptz,
  constraint payment_events_once_key unique (provider, event_key)
);
comment on table public.payment_events is
  'Events that providers report, and our own look-ups. Never purged: the rows show which events '
  'are repeated.';
comment on column public.payment_events.event_key is
  'Identifies repeated events. For an event from the provider: its kind, its reference and the '
  'hash of its signed part, or one hash of all three. For our own look-ups: the subject and the '
  'status.';
comment on column public.payment_events.status is
  'The status in the provider''s response to our look-up.';
comment on column public.payment_events.amount is
  'The amount in the event or, if it has none, in the provider''s response to our look-up.';
comment on column public.payment_events.payload_sha256 is
  'The hash of the body, which is not stored because it contains personal data.';
comment on column public.payment_events.outcome is
  'mismatch and unmatched: the event was not booked, and an admin has to investigate.';
create index payment_events_payment_idx on public.payment_events (payment_id);
create index payment_events_outcome_idx on public.payment_events (outcome, received_at, id);
create index payment_events_received_idx on public.payment_events (received_at, id);
create index payment_events_amount_idx
  on public.payment_events ((coalesce(amount, '-Infinity')), id);
create index payment_events_processed_idx
  on public.payment_events ((coalesce(processed_at, 'infinity')), id);
create trigger payment_events_stay
  before delete or truncate on public.payment_events
  for each statement execute function private.refuse_rewriting();
create trigger payments_stay
  before delete or truncate on public.payments
  for each statement execute function private.refuse_rewriting();

alter table public.payments enable row level security;
alter table public.payment_events enable row level security;
revoke all on public.payments, public.payment_events from anon, authenticated, service_role;
grant select on public.payments to authenticated, acting, service_role;
grant insert, update (return_url, requested_at, state, looked_up_at) on public.payments to acting;
grant select on public.payment_events to service_role;
create policy "identities see payments of their own invoices" on public.payments
  for select to authenticated, acting
  using (exists (
    select from public.invoices
    where invoices.id = payments.invoice_id and invoices.identity_id = (select private.identity_id())
  ));
create policy "identities begin payments of their own invoices" on public.payments
  for insert to acting
  with check (exists (
    select from public.invoices
    where invoices.id = payments.invoice_id and invoices.identity_id = (select private.identity_id())
  ));
create policy "identities change payments of their own invoices" on public.payments
  for update to acting
  using (exists (
    select from public.invoices
    where invoices.id = payments.invoice_id and invoices.identity_id = (select private.identity_id())
  ));

create table public.refunds (
  id uuid primary key default gen_random_uuid(),
  invoice_id uuid not null references public.invoices (id),
  payment_id uuid references public.payments (id),
  destination text not null
    constraint refunds_destination_is_known check (destination in ('wallet', 'source')),
  amount private.kwd not null constraint refunds_amount_is_positive check (amount > 0),
  state text not null default 'requested'
    constraint refunds_state_is_known check (state in ('requested', 'settled', 'rejected')),
  reason text not null
    constraint refunds_reason_length check (char_length(reason) between 1 and 500),
  admin_id uuid,
  requested_here boolean not null default true,
  provider_ref text,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  declined_at timestamptz,
  looked_up_at timestamptz,
  settled_at timestamptz,
  constraint refunds_provider_ref_key unique (payment_id, provider_ref),
  constraint refunds_source_has_a_payment check (destination = 'wallet' or payment_id is not null),
  constraint refunds_settled_tells_when check ((state = 'settled') = (settled_at is not null))
);
comment on table public.refunds is 'Refunds of paid invoices. Never purged: financial records.';
comment on column public.refunds.id is 'Also sent to the provider as our reference.';
comment on column public.refunds.payment_id is
  'The payment through which the money is returned, or the surplus payment that is refunded.';
comment on column public.refunds.destination is 'wallet, or source: the card or account that paid.';
comment on column public.refunds.state is
  'Requested and settled refunds reduce the amount that can still be refunded; rejected refunds do '
  'not.';
comment on column public.refunds.admin_id is
  'The admin who requested the refund; null if it was caused by a row of admin_acts, by the '
  'deletion of the account or by the provider.';
comment on column public.refunds.requested_here is
  'Whether we requested the refund (an admin, or the end of an account), as opposed to one made at '
  'the provider.';
comment on column public.refunds.sent_at is 'When we first sent the request to the provider.';
comment on column public.refunds.declined_at is
  'When the provider first refused a repeated request.';
create index refunds_invoice_idx on public.refunds (invoice_id);
create index refunds_payment_idx on public.refunds (payment_id);
create index refunds_requested_idx on public.refunds (created_at) where state = 'requested';
create trigger refunds_stay
  before delete or truncate on public.refunds
  for each statement execute function private.refuse_rewriting();
alter table public.refunds enable row level security;
revoke all on public.refunds from anon, authenticated, service_role;
grant select on public.refunds to service_role;
create policy "nobody but functions of their owner" on public.refunds using (false);

create table private.unmatched_refunds (
  provider text not null,
  refund_ref text not null,
  charge_ref text,
  answer jsonb not null,
  reported_at timestamptz not null default clock_timestamp(),
  primary key (provider, refund_ref)
);
comment on table private.unmatched_refunds is
  'Refunds reported by a provider that exceed what can be refunded or have no captured payment. '
  'Cleaned by private.on_refund_state once booked, and when the provider reports a failure.';
comment on column private.unmatched_refunds.answer is
  'The provider''s latest response, from which the refund can be booked later.';
create index unmatched_refunds_charge_idx on private.unmatched_refunds (provider, charge_ref);
alter table private.unmatched_refunds enable row level security;
create policy "nobody but functions of their owner" on private.unmatched_refunds using (false);

create table private.sandbox_charges (
  id text primary key default 'sbx_' || replace(gen_random_uuid()::text, '-', ''),
  reference text not null constraint sandbox_charges_reference_key unique,
  amount numeric not null,
  currency text not null,
  title text not null,
  return_url text not null,
  state text not null default 'pending'
    constraint sandbox_charges_state_is_known check (state in ('pending', 'paid', 'failed')),
  created_at timestamptz not null default now(),
  decided_at timestamptz
);
comment on table private.sandbox_charges is 'Sandbox charges. Never purged: none in production.';
comment on column private.sandbox_charges.reference is
  'A repeated request with the same reference gets the same charge.';
alter table private.sandbox_charges enable row level security;
grant select (id), update (return_url) on private.sandbox_charges to acting;
create policy "people change the charges of payments that they see" on private.sandbox_charges
  to acting
  using (exists (select from public.payments where payments.provider_ref = sandbox_charges.id));

create table private.sandbox_refunds (
  id text primary key default 'sbr_' || replace(gen_random_uuid()::text, '-', ''),
  charge_id text not null references private.sandbox_charges (id),
  reference text not null constraint sandbox_refunds_reference_key unique,
  amount numeric not null,
  created_at timestamptz not null default now()
);
comment on table private.sandbox_refunds is 'Sandbox refunds. Never purged: none in production.';
create index sandbox_refunds_charge_idx on private.sandbox_refunds (charge_id);
alter table private.sandbox_refunds enable row level security;
create policy "nobody but functions of their owner" on private.sandbox_refunds using (false);
