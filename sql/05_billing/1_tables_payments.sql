-- Payments: charges at the provider, and what it tells of them.
--
-- A webhook is a hint. What counts is the provider's own answer when the function asks it, and that
-- is what comes in here as `truth`: ref, reference (our payment), status, amount, currency, mode.
-- Event, payment, invoice, money and effect are written in one transaction or not at all.

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
  asked_at timestamptz not null default clock_timestamp(),
  looked_up_at timestamptz,
  captured_at timestamptz,
  constraint payments_ref_key unique (provider, provider_ref),
  constraint payments_provider_payment_key unique (provider, provider_payment_id),
  constraint payments_captured_tells_when check (
    (state in ('captured', 'surplus')) = (captured_at is not null)
  )
);
comment on table public.payments is 'A try to pay an invoice at the payment provider.';
comment on column public.payments.id is 'The reference that the provider knows it by.';
comment on column public.payments.invoice_id is 'Of which invoice.';
comment on column public.payments.provider is 'Who takes the money.';
comment on column public.payments.mode is 'live, or test: a test payment never pays a live charge.';
comment on column public.payments.state is
  'starting: the provider was asked, its answer is not here yet; open: it waits for the person; '
  'superseded: a newer one took its place; failed; captured; surplus: it was paid already.';
comment on column public.payments.amount is 'KWD: the invoice''s total, never what a client says.';
comment on column public.payments.currency is 'KWD.';
comment on column public.payments.return_url is 'Where the person comes back to.';
comment on column public.payments.redirect_url is 'Where the person pays.';
comment on column public.payments.provider_ref is 'The provider''s id of the charge.';
comment on column public.payments.provider_payment_id is
  'The provider''s id of the money taken: a second lock against counting it twice.';
comment on column public.payments.details is
  'What the receipt shows: method, track and reference ids.';
comment on column public.payments.created_at is
  'When it was begun; the same charge for 15 minutes.';
comment on column public.payments.asked_at is 'When the provider was last asked to make it.';
comment on column public.payments.looked_up_at is 'When the job last asked what became of it.';
comment on column public.payments.captured_at is 'When the money was known to be taken.';
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
  'What a provider told, each thing once and for ever: a repeated event finds its row.';
comment on column public.payment_events.id is 'Order.';
comment on column public.payment_events.provider is 'Who told.';
comment on column public.payment_events.event_key is
  'What makes the event the same one: the provider''s reference and the hash of what was signed.';
comment on column public.payment_events.kind is
  'payment, refund, look_up (we asked by ourselves), other (nothing that concerns us).';
comment on column public.payment_events.payment_id is 'About which payment, if we know it.';
comment on column public.payment_events.status is 'What the provider answered when asked.';
comment on column public.payment_events.amount is 'The amount that was told, else received.';
comment on column public.payment_events.currency is 'Its currency.';
comment on column public.payment_events.payload_sha256 is
  'Of the body as it came. The body itself names people and cards, so it is not kept.';
comment on column public.payment_events.outcome is
  'What it did; mismatch and unmatched changed nothing and are an admin''s to look at.';
comment on column public.payment_events.received_at is 'When it came.';
comment on column public.payment_events.processed_at is 'When it was done with.';
create index payment_events_payment_idx on public.payment_events (payment_id);
create index payment_events_outcome_idx on public.payment_events (outcome, id desc);
create trigger payment_events_stay
  before delete or truncate on public.payment_events
  for each statement execute function private.refuse_rewriting();
create trigger payments_stay
  before delete or truncate on public.payments
  for each statement execute function private.refuse_rewriting();

alter table public.payments enable row level security;
alter table public.payment_events enable row level security;
revoke all on public.payments, public.payment_events from anon, authenticated, service_role;
grant select on public.payments to authenticated, service_role;
grant select on public.payment_events to service_role;
create policy "identities see payments of their own invoices" on public.payments
  for select to authenticated
  using (invoice_id in (
    select invoices.id from public.invoices
    where invoices.identity_id = (select private.identity_id())
  ));
create policy "nobody but functions of their owner" on public.payment_events using (false);

-- Starting a charge ------------------------------------------------------------------------------

create function private.use_provider(provider text, mode text) returns void
  language sql
  set search_path = ''
as $$
  select set_config('facade.provider',
    jsonb_build_object('provider', use_provider.provider, 'mode', use_provider.mode)::text, true)
$$;
comment on function private.use_provider is
  'Says for this transaction which provider is asked: the functions'' setting, never a client''s.';

create function private.start_charge(invoice_id uuid, return_url text, idempotency_key text)
  returns json
  language plpgsql
  security definer -- writes payments of the acting identity's own invoice
  set search_path = ''
as $$
declare
  owner_id uuid := private.hold_identity();
  chosen jsonb := nullif(current_setting('facade.provider', true), '');
  kept json;
  invoice public.invoices;
  payment public.payments;
begin
  if idempotency_key !~ '^[\x20-\x7E]{1,64}$' then
    perform private.refuse_field('Idempotency-Key', 'invalid');
  elsif idempotency_key is not null then
    kept := private.kept_answer(idempotency_key, jsonb_build_object(
      'name', 'charge_invoice', 'invoice', start_charge.invoice_id, 'return', return_url));
    if kept is not null then
      return kept;
    end if;
  end if;

  select * into invoice from public.invoices
  where invoices.id = start_charge.invoice_id and invoices.identity_id = owner_id
  for update;
  if invoice.id is null then
    perform private.refuse(404, 'invoice_not_found');
  elsif invoice.paid_at is not null then
    perform private.refuse(409, 'invoice_already_paid');
  elsif invoice.state in ('void', 'expired')
    or invoice.state in ('open', 'failed') and invoice.due_at <= now() then
    perform private.refuse(409, 'status_transition_invalid',
      jsonb_build_object('from', invoice.state, 'to', 'processing'));
  elsif chosen is null then
    perform private.refuse(503, 'payment_not_configured');
  end if;

  select * into payment from public.payments
  where payments.invoice_id = invoice.id and payments.state in ('starting', 'open')
  for update;
  if payment.state = 'open' and payment.created_at > now() - interval '15 minutes' then
    return json_build_object('paymentId', payment.id, 'redirectUrl', payment.redirect_url);
  elsif payment.state = 'starting' and payment.asked_at > clock_timestamp() - interval '6 seconds'
  then
    return json_build_object('paymentId', payment.id, 'wait', true);
  elsif payment.state = 'starting' and payment.provider = chosen ->> 'provider' then
    -- Nobody knows whether the provider made it: asked again by the same name, it makes no second.
    update public.payments set asked_at = clock_timestamp() where payments.id = payment.id;
  else
    update public.payments set state = 'superseded' where payments.id = payment.id;
    insert into public.payments (invoice_id, provider, mode, amount, return_url)
    values (invoice.id, chosen ->> 'provider', chosen ->> 'mode', invoice.total,
      start_charge.return_url)
    returning * into payment;
  end if;
  update public.invoices set state = 'open' where invoices.id = invoice.id and state = 'failed';
  update public.invoices set state = 'processing' where invoices.id = invoice.id and state = 'open';
  return private.charge_order(payment.id);
end
$$;
comment on function private.start_charge is
  'The open charge of an invoice, or a new one to be made at the provider; see api.charge_invoice.';

create function private.charge_order(payment_id uuid) returns json
  language sql
  stable
  security definer -- reads for functions that have looked whose payment it is
  set search_path = ''
as $$
  select json_build_object(
    'paymentId', payments.id,
    'start', true,
    'amount', to_char(payments.amount, 'FM999999999990.000'),
    'currency', payments.currency,
    'returnUrl', payments.return_url,
    'number', invoices.number,
    'titleAr', (
      select string_agg(invoice_lines.title_ar, '، ' order by invoice_lines.position)
      from public.invoice_lines where invoice_lines.invoice_id = invoices.id
    ),
    'customer', json_build_object(
      'name', identities.display_name, 'phone', accounts.phone, 'email', accounts.email,
      'language', accounts.language))
  from public.payments
  join public.invoices on invoices.id = payments.invoice_id
  join public.identities on identities.id = invoices.identity_id
  join public.accounts on accounts.id = invoices.account_id
  where payments.id = charge_order.payment_id
$$;
comment on function private.charge_order is 'What a provider is told to make a charge.';

create function api.charge_invoice(
  invoice_id uuid, return_url text, idempotency_key text default null
) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.start_charge(invoice_id, return_url, idempotency_key);
end
$$;
comment on function api.charge_invoice is
  'The open charge of an invoice for 15 minutes, else a new one. 404 invoice_not_found, 409 '
  'invoice_already_paid, 503 payment_not_configured: so it is wherever the functions do not ask.';

create function private.charge_started(
  payment_id uuid, provider_ref text, redirect_url text, idempotency_key text default null
) returns json
  language plpgsql
  security definer -- writes the payment that the provider has made
  set search_path = ''
as $$
declare
  told json := json_build_object(
    'paymentId', charge_started.payment_id, 'redirectUrl', charge_started.redirect_url);
begin
  if exists (
    select from public.payments
    join public.payments as own on own.id = charge_started.payment_id
    where payments.provider = own.provider and payments.id <> own.id
      and payments.provider_ref = charge_started.provider_ref
  ) then
    perform private.raise_alarm('charge_mismatch', charge_started.payment_id::text,
      jsonb_build_object('providerRef', charge_started.provider_ref));
    perform private.fail_payment(charge_started.payment_id, true);
    return null;
  end if;
  -- A webhook may have been faster: then the payment has its ref and its state already.
  update public.payments
  set provider_ref = charge_started.provider_ref, redirect_url = charge_started.redirect_url,
      state = case payments.state when 'starting' then 'open' else payments.state end
  where payments.id = charge_started.payment_id;
  update private.idempotency_keys set answer = told
  from public.payments
  join public.invoices on invoices.id = payments.invoice_id
  where payments.id = charge_started.payment_id
    and idempotency_keys.account_id = invoices.account_id
    and idempotency_keys.key = charge_started.idempotency_key
    and idempotency_keys.answer is null;
  return told;
end
$$;
comment on function private.charge_started is
  'The provider made the charge: where the person pays. Null when it named another payment''s.';

create function private.charge_refused(payment_id uuid, why text, alarming boolean) returns void
  language plpgsql
  security definer -- writes the payment that the provider would not make
  set search_path = ''
as $$
begin
  if alarming then
    perform private.raise_alarm('charge_mismatch', charge_refused.payment_id::text,
      jsonb_build_object('why', why));
  end if;
  perform private.fail_payment(charge_refused.payment_id, true);
end
$$;
comment on function private.charge_refused is
  'The provider made no charge, or another than it was asked for.';

create function private.fail_payment(payment_id uuid, quiet boolean default false) returns text
  language plpgsql
  security definer -- writes for functions that asked the provider
  set search_path = ''
as $$
declare
  invoice public.invoices;
  before text;
begin
  invoice := private.take_invoice((
    select payments.invoice_id from public.payments where payments.id = fail_payment.payment_id
  ));
  select payments.state into before from public.payments
  where payments.id = fail_payment.payment_id for update;
  if before not in ('starting', 'open', 'superseded') then
    return 'repeated';
  end if;
  update public.payments set state = 'failed' where payments.id = fail_payment.payment_id;
  if before <> 'superseded' and invoice.state = 'processing' then
    update public.invoices set state = 'failed' where invoices.id = invoice.id;
    if not quiet then
      perform private.notify(invoice.account_id, invoice.identity_id, 'invoice_failed', invoice.id,
        jsonb_build_object('number', invoice.number, 'amount', invoice.total));
    end if;
  end if;
  return 'failed';
end
$$;
comment on function private.fail_payment is
  'A try that came to nothing. What is captured stays captured.';

grant execute on function private.start_charge to authenticated;
grant execute on function api.charge_invoice to authenticated;
grant execute on function
  private.use_provider, private.charge_started, private.charge_refused
  to backend;
