-- What a provider says became of a refund, and what follows from it.

create function private.refund_order(refund_id uuid) returns json
  language sql
  stable
  security definer -- for the function that asks the provider
  set search_path = ''
as $$
  select json_build_object(
    'refundId', refunds.id, 'provider', payments.provider, 'chargeRef', payments.provider_ref,
    'paymentId', payments.provider_payment_id, 'refundRef', refunds.provider_ref,
    'amount', to_char(refunds.amount, 'FM999999999990.000'), 'currency', payments.currency,
    'reason', refunds.reason)
  from public.refunds
  join public.payments on payments.id = refunds.payment_id
  where refunds.id = refund_order.refund_id and refunds.state = 'requested'
$$;
comment on function private.refund_order is 'What a provider is told to give money back.';

create function private.reject_refund(refund_id uuid) returns void
  language plpgsql
  security definer -- gives held money back, holding the invoice
  set search_path = ''
as $$
declare
  refund public.refunds;
  invoice public.invoices;
begin
  update public.refunds set state = 'rejected'
  where refunds.id = refund_id and refunds.state = 'requested'
  returning * into refund;
  if refund.id is null then
    return;
  end if;
  select * into invoice from public.invoices where invoices.id = refund.invoice_id;
  if invoice.credited then
    perform private.move_money(
      private.wallet_of(invoice.identity_id, 'held'), private.wallet_of(invoice.identity_id),
      refund.amount, 'release', 'release', refund.id, invoice.id);
  end if;
  perform private.raise_alarm('refund_rejected', refund.id::text,
    jsonb_build_object('invoice', invoice.number, 'amount', refund.amount));
end
$$;
comment on function private.reject_refund is
  'The provider will not give it back: what was held is free again, and an admin is told.';

create function private.note_refund(payment public.payments, truth jsonb) returns uuid
  language plpgsql
  security definer -- records a refund that was made at the provider, holding the invoice
  set search_path = ''
as $$
declare
  invoice public.invoices;
  amount numeric := (truth ->> 'amount')::numeric;
  made uuid;
begin
  select * into invoice from public.invoices where invoices.id = payment.invoice_id;
  if payment.state <> 'captured' or amount > private.refund_room(invoice)
    or invoice.credited and amount > (
      select wallets.balance from public.wallets
      where wallets.id = private.wallet_of(invoice.identity_id)
    ) then
    return null;
  end if;
  insert into public.refunds (invoice_id, payment_id, destination, amount, reason, provider_ref)
  values (invoice.id, payment.id, 'source', amount, 'made at the provider', truth ->> 'refundRef')
  returning id into made;
  return made;
end
$$;
comment on function private.note_refund is
  'A refund that nobody here asked for, if there is room for it.';

create function private.apply_refund(truth jsonb) returns text
  language plpgsql
  security definer -- writes for functions that asked the provider
  set search_path = ''
as $$
declare
  payment public.payments;
  refund public.refunds;
begin
  select * into payment from public.payments
  where payments.provider = truth ->> 'provider' and payments.provider_ref = truth ->> 'chargeRef';
  if payment.id is null then
    perform private.raise_alarm('refund_unmatched', truth ->> 'refundRef', truth);
    return 'unmatched';
  end if;
  perform from public.invoices where invoices.id = payment.invoice_id for update;
  select * into refund from public.refunds
  where refunds.payment_id = payment.id
    and (refunds.provider_ref = truth ->> 'refundRef'
      or refunds.provider_ref is null and refunds.id::text = truth ->> 'reference');
  if refund.id is null and truth ->> 'status' = 'refunded' then
    refund.id := private.note_refund(payment, truth);
    if refund.id is null then
      perform private.raise_alarm('refund_unmatched', truth ->> 'refundRef', truth);
      return 'unmatched';
    end if;
    perform private.book_refund(refund.id);
    return 'refunded';
  elsif refund.id is null then
    return 'ignored';
  elsif refund.amount <> (truth ->> 'amount')::numeric
    or payment.currency is distinct from truth ->> 'currency' then
    perform private.raise_alarm('refund_mismatch', refund.id::text, truth);
    return 'mismatch';
  end if;

  update public.refunds
  set provider_ref = coalesce(refunds.provider_ref, truth ->> 'refundRef')
  where refunds.id = refund.id;
  if refund.state <> 'requested' then
    return 'repeated';
  elsif truth ->> 'status' = 'refunded' then
    perform private.book_refund(refund.id);
    return 'refunded';
  elsif truth ->> 'status' = 'failed' then
    perform private.reject_refund(refund.id);
    return 'failed';
  end if;
  return 'pending';
end
$$;
comment on function private.apply_refund is
  'What the provider answered about a refund, and what follows from it.';

create function private.receive_refund(
  provider text, event_key text, kind text, payload_sha256 text default null,
  told_amount text default null, charge jsonb default null, refund jsonb default null
) returns json
  language plpgsql
  security definer -- the webhook and the job: for nobody in particular
  set search_path = ''
as $$
declare
  event_id bigint;
  payment public.payments;
  result text := 'ignored';
begin
  insert into public.payment_events (provider, event_key, kind, payload_sha256, amount)
  values (receive_refund.provider, receive_refund.event_key, receive_refund.kind,
    receive_refund.payload_sha256, private.amount_told(told_amount))
  on conflict do nothing
  returning id into event_id;
  if event_id is null and receive_refund.kind <> 'look_up' then
    return json_build_object('received', true, 'duplicate', true);
  end if;
  -- Nothing is given back before it has come in, in whatever order that is told.
  payment := private.payment_named(receive_refund.provider, charge);
  if payment.id is not null and payment.captured_at is null then
    perform private.apply_truth(payment, charge, null);
  end if;
  if refund is not null then
    result := private.apply_refund(
      refund || jsonb_build_object('provider', receive_refund.provider));
  end if;
  update public.payment_events
  set outcome = result, payment_id = payment.id, status = refund ->> 'status',
      amount = coalesce(payment_events.amount, (refund ->> 'amount')::numeric),
      currency = refund ->> 'currency', processed_at = clock_timestamp()
  where payment_events.id = event_id;
  return json_build_object('received', true, 'duplicate', false, 'outcome', result);
end
$$;
comment on function private.receive_refund is
  'What came of a refund, as the provider answered when asked for it and for its charge.';

create function private.refund_answered(
  refund_id uuid, provider_ref text, status text
) returns json
  language plpgsql
  security definer -- writes what the provider answered to our request
  set search_path = ''
as $$
declare
  invoice_id uuid;
begin
  select refunds.invoice_id into invoice_id from public.refunds
  where refunds.id = refund_answered.refund_id;
  perform from public.invoices where invoices.id = invoice_id for update;
  update public.refunds
  set provider_ref = coalesce(refunds.provider_ref, refund_answered.provider_ref),
      asked_at = now()
  where refunds.id = refund_answered.refund_id;
  if status = 'failed' then
    perform private.reject_refund(refund_id);
  elsif status = 'refunded' and exists (
    select from public.refunds
    where refunds.id = refund_answered.refund_id and refunds.state = 'requested'
  ) then
    perform private.book_refund(refund_id);
  end if;
  return private.refund_answer(refund_id);
end
$$;
comment on function private.refund_answered is
  'What the provider said when it was asked to give money back.';

revoke execute on all functions in schema private from public;
grant execute on function private.refund_order, private.receive_refund, private.refund_answered
  to backend;
