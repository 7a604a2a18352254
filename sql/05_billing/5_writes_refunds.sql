-- A refund to the source is requested from the provider and booked when it reports success. Until
-- then it already counts as refunded, so that concurrent calls cannot refund more than was paid.

create function private.book_refund(refund_id uuid) returns void
  language plpgsql
  security definer -- writes refund, invoice and ledger; the invoice is locked
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
  -- No money is held for a refund that was not requested here or was rejected before.
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
    -- The money has already been paid back, so this is booked even if the wallet holds less.
    case when not is_held then private.system_account('adjustments') end);
  update public.refunds set state = 'settled', settled_at = now() where refunds.id = refund.id;
  -- A refund of a surplus payment does not reduce what was paid for the invoice.
  if payment.state is distinct from 'surplus' then
    update public.invoices
    set refunded = invoices.refunded + refund.amount,
        state = case when invoices.refunded + refund.amount = invoices.total then 'refunded'
          else 'partially_refunded' end
    where invoices.id = invoice.id
    returning * into invoice;
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
  'Books a refund in ledger and invoice, and takes back the delivery after a full refund.';
