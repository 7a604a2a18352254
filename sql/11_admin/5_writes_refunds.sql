create function private.make_refund(
  admin_id uuid, refund_id uuid, invoice_id uuid, amount numeric, destination text, reason text,
  payment_id uuid, may_ask boolean
) returns void
  language plpgsql
  security definer -- refunds other people's payments on an admin's behalf
  set search_path = ''
as $$
declare
  invoice public.invoices;
  payment public.payments;
  -- Whether the payment was made when its invoice was already paid. Its money is in the wallet.
  is_surplus boolean;
  room numeric := 0;
  done_at timestamptz;
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
  -- Only refunds with an amount need this check: without one, a repeated refund finds nothing left.
  select max(refunds.created_at) into done_at from public.refunds
  where refunds.invoice_id = invoice.id and refunds.payment_id is not distinct from payment.id
    and refunds.amount = make_refund.amount and refunds.requested_here
    and refunds.state <> 'rejected'
    and refunds.created_at > clock_timestamp() - interval '10 minutes';
  if done_at is not null and not private.has_claimed_key() then
    perform private.refuse(409, 'refund_repeated', by_hand => private.done_already(done_at));
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
  'Refunds all or a part of an invoice, or of a surplus payment. admin_id is null for a row of '
  'admin_acts. may_ask: whether the caller can send requests to the provider.';

create function private.refund_invoice(
  invoice_id uuid, destination text, reason text, amount numeric default null,
  payment_id uuid default null
) returns json
  language plpgsql security definer set search_path = ''
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
  'Api: For admins: refunds all or a part of a paid invoice or of a surplus payment. A refund to '
  'the source requires a proof, which only the facade passes on. 403 admin_only, proof_required, '
  '404 invoice_not_found, 409 status_transition_invalid, refund_repeated if the same refund was '
  'made within 10 minutes and the request has no Idempotency-Key, 422 amount_out_of_range, 402 '
  'wallet_insufficient.';

grant execute on function private.refund_invoice to authenticated;
