-- Refunds: money paid back, to the wallet or to where it came from.
--
-- A refund to the source is requested of the provider and booked when it reports success; until then
-- the money is held, so that more than was paid can never be refunded, not even by calls at once.

create function private.book_refund(refund_id uuid) returns void
  language plpgsql
  security definer -- writes invoice, money and effect together, holding the invoice
  set search_path = ''
as $$
declare
  refund public.refunds;
  invoice public.invoices;
  payment public.payments;
  from_wallet uuid;
  is_held boolean;
  of_deleted boolean;
begin
  select * into refund from public.refunds where refunds.id = refund_id;
  select * into invoice from public.invoices where invoices.id = refund.invoice_id;
  select * into payment from public.payments where payments.id = refund.payment_id;
  -- One that nobody here asked for, or that was taken as rejected, has set nothing aside.
  is_held := refund.asked and refund.state = 'requested';
  of_deleted := is_held
    and exists (select from public.wallet_payouts where wallet_payouts.id = refund.id);
  from_wallet := case
    when of_deleted then private.system_account('payouts')
    when not private.went_to_wallet(invoice, payment) then private.system_account('sales')
    when is_held then private.wallet_of(invoice.identity_id, 'held')
    else private.wallet_of(invoice.identity_id)
  end;
  if of_deleted then
    perform private.end_payout(refund.id, 'refunded');
  end if;
  perform private.move_money(
    from_wallet,
    case refund.destination when 'wallet' then private.wallet_of(invoice.identity_id)
      else private.system_account('provider') end,
    refund.amount, 'refund', 'refund', refund.id, invoice.id,
    -- The provider has paid it back, whatever the wallet still holds.
    case when not is_held then private.system_account('adjustments') end);
  update public.refunds set state = 'settled', settled_at = now() where refunds.id = refund.id;
  -- A surplus payment is no part of the invoice.
  if payment.state is distinct from 'surplus' then
    update public.invoices
    set refunded = invoices.refunded + refund.amount,
        state = case when invoices.refunded + refund.amount = invoices.total then 'refunded'
          else 'partially_refunded' end
    where invoices.id = invoice.id
    returning * into invoice;
    -- What was delivered is taken back once all of its price is refunded.
    if invoice.state = 'refunded' and not invoice.credited then
      perform private.revoke_delivery(invoice.id);
    end if;
  end if;
  perform private.notify(invoice.account_id, invoice.identity_id, 'refund', invoice.id,
    jsonb_build_object(
      'number', invoice.number, 'amount', refund.amount, 'to', refund.destination));
end
$$;
comment on function private.book_refund is
  'Books a refund: ledger, invoice, and what the invoice delivered once all of it is refunded.';

create function private.make_refund(
  admin_id uuid, refund_id uuid, invoice_id uuid, amount numeric, destination text, reason text,
  payment_id uuid, may_ask boolean
) returns void
  language plpgsql
  security definer -- an admin refunds what another has paid
  set search_path = ''
as $$
declare
  invoice public.invoices;
  payment public.payments;
  -- Paid after the invoice was paid, so it went to the wallet.
  is_surplus boolean;
  room numeric := 0;
begin
  invoice := private.lock_invoice(invoice_id);
  if invoice.id is null then
    perform private.refuse(404, 'invoice_not_found');
  end if;
  select * into payment from public.payments
  where payments.invoice_id = invoice.id
    and case when make_refund.payment_id is null then payments.state = 'captured'
      else payments.id = make_refund.payment_id and payments.captured_at is not null end;
  if make_refund.payment_id is not null and payment.id is null then
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
      jsonb_build_object('from', invoice.state, 'to', 'refunded'),
      format('Nothing is left to refund of %s, which is %s.', invoice.number,
        replace(invoice.state, '_', ' ')));
  end if;
  amount := coalesce(amount, room);
  if amount <= 0 or amount > room or amount <> round(amount, 3) then
    perform private.refuse_field('amount', 'amount_out_of_range', by_hand => format(
      'amount is more than 0 and at most %s, what is left of %s, in dinars with three decimals; '
      'empty is all of that.', private.kwd_text(room), invoice.number));
  end if;
  -- What went to the wallet cannot be refunded to it, and what came from it has no other source.
  if make_refund.destination not in ('wallet', 'source')
    or make_refund.destination = 'wallet' and private.went_to_wallet(invoice, payment)
    or make_refund.destination = 'source' and payment.id is null then
    perform private.refuse_field('to', 'invalid', by_hand => case make_refund.destination
      when 'wallet' then 'The money of this invoice lies in the wallet: "to" is source.'
      when 'source' then 'This invoice was paid from the wallet: "to" is wallet.'
      else '"to" is wallet or source.' end);
  elsif make_refund.destination = 'source' and not may_ask then
    perform private.refuse(503, 'payment_not_configured');
  end if;

  perform private.audit('invoice.refund', 'invoice', invoice.id, reason,
    jsonb_build_object('state', invoice.state, 'refunded', invoice.refunded),
    jsonb_strip_nulls(jsonb_build_object(
      'amount', amount, 'to', make_refund.destination, 'paymentId', make_refund.payment_id)));
  insert into public.refunds (id, invoice_id, payment_id, destination, amount, reason, admin_id)
  values (refund_id, invoice.id, payment.id, make_refund.destination, make_refund.amount,
    make_refund.reason, make_refund.admin_id);
  if make_refund.destination = 'wallet' then
    perform private.book_refund(refund_id);
  elsif private.went_to_wallet(invoice, payment) then
    perform private.move_money(
      private.wallet_of(invoice.identity_id), private.wallet_of(invoice.identity_id, 'held'),
      amount, 'hold', 'hold', refund_id, invoice.id);
  end if;
end
$$;
comment on function private.make_refund is
  'Refunds an invoice under this id, for an admin or, where that is null, by a row of admin_acts. '
  'may_ask: whether a provider can be asked.';

create function private.refund_invoice(
  invoice_id uuid, destination text, reason text, amount numeric default null,
  payment_id uuid default null
) returns json
  language plpgsql
  security definer -- calls what is closed to clients, for an admin
  set search_path = ''
as $$
declare
  refund_id constant uuid := gen_random_uuid();
  admin_id constant uuid := private.require_admin();
begin
  if destination = 'source' then
    perform private.require_admin_proof();
  end if;
  perform private.lock_ceilings(admin_id);
  perform private.make_refund(admin_id, refund_id, invoice_id, amount, destination, reason, payment_id, nullif(current_setting('facade.provider', true), '') is not null);
  return private.refund_answer(refund_id);
end
$$;
comment on function private.refund_invoice is
  'Api: For admins: refunds all or a part of a paid invoice, or of a surplus payment, which went '
  'to the wallet. To the source it needs a proof, which the facade alone passes on: 403 admin_only, '
  'proof_required, 404 invoice_not_found, 409 status_transition_invalid, 422 '
  'amount_out_of_range, 402 wallet_insufficient.';

grant execute on function private.refund_invoice to authenticated;
