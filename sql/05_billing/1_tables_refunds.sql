-- Refunds: money given back, to the wallet or to where it came from.
--
-- What goes back to its source is asked of the provider and booked when it says that it is done;
-- until then it is held: more than was paid can never be given back, also not at once.

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
  provider_ref text,
  created_at timestamptz not null default now(),
  asked_at timestamptz,
  settled_at timestamptz,
  constraint refunds_provider_ref_key unique (payment_id, provider_ref),
  constraint refunds_source_has_a_payment check (destination = 'wallet' or payment_id is not null),
  constraint refunds_settled_tells_when check ((state = 'settled') = (settled_at is not null))
);
comment on table public.refunds is 'Money of a paid invoice that is given back.';
comment on column public.refunds.id is 'The reference that the provider knows it by.';
comment on column public.refunds.invoice_id is 'Of which invoice.';
comment on column public.refunds.payment_id is 'The payment that it goes back through; of a surplus: that is given back.';
comment on column public.refunds.destination is 'wallet, or source: the card or account that paid.';
comment on column public.refunds.amount is 'KWD.';
comment on column public.refunds.state is
  'requested at the provider, settled, or rejected by it. The first two count as given back.';
comment on column public.refunds.reason is 'Why, as the admin wrote it.';
comment on column public.refunds.admin_id is 'Who decided it; null for one made at the provider.';
comment on column public.refunds.provider_ref is 'The provider''s id of the refund.';
comment on column public.refunds.created_at is 'When it was decided.';
comment on column public.refunds.asked_at is 'When the provider was last asked about it.';
comment on column public.refunds.settled_at is 'When the money was given back.';
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

create function private.refund_room(invoice public.invoices) returns numeric
  language sql
  stable
  security definer -- reads for functions that hold the invoice
  set search_path = ''
as $$
  select invoice.total - coalesce(sum(refunds.amount), 0) from public.refunds
  left join public.payments on payments.id = refunds.payment_id
  where refunds.invoice_id = invoice.id and refunds.state in ('requested', 'settled')
    and payments.state is distinct from 'surplus'
$$;
comment on function private.refund_room is 'How much of an invoice can still be given back.';

create function private.surplus_room(payment public.payments) returns numeric
  language sql
  stable
  security definer -- reads for functions that hold the invoice
  set search_path = ''
as $$
  select payment.amount - coalesce(sum(refunds.amount), 0) from public.refunds
  where refunds.payment_id = payment.id and refunds.state in ('requested', 'settled')
$$;
comment on function private.surplus_room is
  'How much can still be given back of a payment that came on top of a paid invoice.';

create function private.book_refund(refund_id uuid) returns void
  language plpgsql
  security definer -- writes invoice, money and effect together, holding the invoice
  set search_path = ''
as $$
declare
  refund public.refunds;
  invoice public.invoices;
  -- What was paid on top stands in the wallet and is no part of the invoice.
  is_surplus boolean;
  from_wallet uuid;
begin
  select * into refund from public.refunds where refunds.id = refund_id;
  select * into invoice from public.invoices where invoices.id = refund.invoice_id;
  is_surplus := exists (
    select from public.payments
    where payments.id = refund.payment_id and payments.state = 'surplus'
  );
  from_wallet := case
    when not invoice.credited and not is_surplus then private.house('sales')
    when refund.admin_id is null then private.wallet_of(invoice.identity_id)
    else private.wallet_of(invoice.identity_id, 'held')
  end;
  perform private.move_money(
    from_wallet,
    case refund.destination when 'wallet' then private.wallet_of(invoice.identity_id)
      else private.house('provider') end,
    refund.amount, 'refund', 'refund', refund.id, invoice.id,
    -- The provider has given it back, whatever the wallet still holds.
    case when refund.admin_id is null then private.house('adjustments') end);
  update public.refunds set state = 'settled', settled_at = now() where refunds.id = refund.id;
  if not is_surplus then
    update public.invoices
    set refunded = invoices.refunded + refund.amount,
        state = case when invoices.refunded + refund.amount = invoices.total then 'refunded'
          else 'partially_refunded' end
    where invoices.id = invoice.id
    returning * into invoice;
    -- What was given is taken back when all of its price has been.
    if invoice.state = 'refunded' and not invoice.credited then
      perform private.take_back(invoice.id);
    end if;
  end if;
  perform private.notify(invoice.account_id, invoice.identity_id, 'refund', invoice.id,
    jsonb_build_object(
      'number', invoice.number, 'amount', refund.amount, 'to', refund.destination));
end
$$;
comment on function private.book_refund is
  'The money is given back: ledger, invoice, and what the invoice gave where all of it was.';

create function private.start_refund(
  invoice_id uuid, amount numeric, destination text, reason text, payment_id uuid default null
) returns json
  language plpgsql
  security definer -- an admin gives back what another has paid
  set search_path = ''
as $$
declare
  caller_id uuid := private.require_admin();
  may_ask boolean := nullif(current_setting('facade.provider', true), '') is not null;
  invoice public.invoices;
  payment public.payments;
  -- Paid on top of a paid invoice, so it stands in the wallet.
  is_surplus boolean;
  room numeric := 0;
  made uuid;
begin
  invoice := private.take_invoice(invoice_id);
  if invoice.id is null then
    perform private.refuse(404, 'invoice_not_found');
  end if;
  select * into payment from public.payments
  where payments.invoice_id = invoice.id
    and case when start_refund.payment_id is null then payments.state = 'captured'
      else payments.id = start_refund.payment_id and payments.captured_at is not null end;
  if start_refund.payment_id is not null and payment.id is null then
    perform private.refuse_field('paymentId', 'invalid');
  end if;
  is_surplus := payment.state is not distinct from 'surplus';
  if is_surplus then
    room := private.surplus_room(payment);
  elsif invoice.state in ('paid', 'partially_refunded') then
    room := private.refund_room(invoice);
  end if;
  if room = 0 then
    perform private.refuse(409, 'status_transition_invalid',
      jsonb_build_object('from', invoice.state, 'to', 'refunded'));
  end if;
  amount := coalesce(amount, room);
  if amount <= 0 or amount > room or amount <> round(amount, 3) then
    perform private.refuse_field('amount', 'amount_out_of_range');
  end if;
  -- What stands in the wallet already cannot go there, and what came from it has no other source.
  if start_refund.destination not in ('wallet', 'source')
    or start_refund.destination = 'wallet' and (invoice.credited or is_surplus)
    or start_refund.destination = 'source' and payment.id is null then
    perform private.refuse_field('to', 'invalid');
  elsif start_refund.destination = 'source' and not may_ask then
    perform private.refuse(503, 'payment_not_configured');
  end if;

  perform private.audit('invoice.refund', 'invoice', invoice.id, reason,
    jsonb_build_object('state', invoice.state, 'refunded', invoice.refunded),
    jsonb_strip_nulls(jsonb_build_object(
      'amount', amount, 'to', start_refund.destination, 'paymentId', start_refund.payment_id)));
  insert into public.refunds (invoice_id, payment_id, destination, amount, reason, admin_id)
  values (invoice.id, payment.id, start_refund.destination, start_refund.amount,
    start_refund.reason, caller_id)
  returning id into made;
  if start_refund.destination = 'wallet' then
    perform private.book_refund(made);
  elsif invoice.credited or is_surplus then
    perform private.move_money(
      private.wallet_of(invoice.identity_id), private.wallet_of(invoice.identity_id, 'held'),
      amount, 'hold', 'hold', made, invoice.id);
  end if;
  return private.refund_answer(made);
end
$$;
comment on function private.start_refund is 'See api.refund_invoice.';

create function private.refund_answer(refund_id uuid) returns json
  language sql
  stable
  security definer -- for functions that have looked who asks
  set search_path = ''
as $$
  select json_build_object(
    'refund', json_build_object(
      'id', refunds.id, 'amount', refunds.amount, 'to', refunds.destination, 'state', refunds.state,
      'reason', refunds.reason, 'createdAt', refunds.created_at, 'settledAt', refunds.settled_at),
    'invoice', private.invoice_record(invoices))
  from public.refunds
  join public.invoices on invoices.id = refunds.invoice_id
  where refunds.id = refund_answer.refund_id
$$;
comment on function private.refund_answer is 'A refund and its invoice, as an admin sees them.';

create function api.refund_invoice(
  invoice_id uuid, destination text, reason text, amount numeric default null,
  payment_id uuid default null
) returns json
  language plpgsql
  set search_path = ''
as $$
begin
  return private.start_refund(
    invoice_id, amount, refund_invoice.destination, reason, refund_invoice.payment_id);
end
$$;
comment on function api.refund_invoice is
  'For admins: gives back all or a part of a paid invoice, or of a payment that came on top of it '
  'and stands in the wallet. 403 admin_only, 404 invoice_not_found, 409 '
  'status_transition_invalid, 422 amount_out_of_range, 402 wallet_insufficient.';

grant execute on function private.start_refund to authenticated;
grant execute on function api.refund_invoice to authenticated;
