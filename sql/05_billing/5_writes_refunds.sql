-- A refund to the source is requested from the provider and booked when the provider reports
-- success. The amount counts as refunded from the request on, so that concurrent calls cannot refund
-- more than was paid.

create function private.make_refund_document(refund_id uuid) returns void
  language plpgsql
  security definer -- writes documents, which no client may write
  set search_path = ''
as $$
declare
  this_year constant integer := extract(year from now() at time zone 'Asia/Kuwait');
begin
  -- Numbering is serialised, so that a transaction that is rolled back leaves no gap.
  perform pg_advisory_xact_lock(hashtextextended('refund documents', 0));
  insert into public.refund_documents (refund_id, invoice_id, year, serial, payer_name, document)
  select refunds.id, invoices.id, this_year, 1 + coalesce((
      select max(others.serial) from public.refund_documents as others
      where others.year = this_year
    ), 0), identities.display_name, json_build_object(
      'invoiceNumber', invoices.number,
      'amount', to_char(refunds.amount, 'FM999999999990.000'),
      'currency', invoices.currency,
      'to', refunds.destination,
      'payerType', identities.type,
      'seller', private.setting('seller'))
  from public.refunds
  join public.invoices on invoices.id = refunds.invoice_id
  join public.identities on identities.id = invoices.identity_id
  where refunds.id = make_refund_document.refund_id;
end
$$;

create function private.book_refund(refund_id uuid) returns void
  language plpgsql
  security definer -- writes refund, invoice and ledger; the caller has locked the invoice
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
  -- No money is held for a refund that we did not request or that was rejected before.
  is_held := refund.requested_here and refund.state = 'requested';
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
    -- The money has already been paid back, so the refund is booked even if the wallet does not
    -- cover it.
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
  perform private.make_refund_document(refund.id);
  perform private.notify(invoice.account_id, invoice.identity_id, 'refund', invoice.id,
    jsonb_build_object(
      'number', invoice.number, 'amount', refund.amount, 'to', refund.destination));
end
$$;
comment on function private.book_refund is
  'Books a refund in the ledger and on the invoice. After a full refund, takes back what was '
  'delivered.';
