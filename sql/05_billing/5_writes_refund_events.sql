-- What became of a refund at the provider, and what follows from it.

create function private.reject_refund(refund_id uuid) returns void
  language plpgsql
  security definer -- releases held money; the invoice is locked
  set search_path = ''
as $$
declare
  refund public.refunds;
  invoice public.invoices;
  payment public.payments;
begin
  update public.refunds set state = 'rejected'
  where refunds.id = refund_id and refunds.state = 'requested'
  returning * into refund;
  if refund.id is null then
    return;
  end if;
  select * into invoice from public.invoices where invoices.id = refund.invoice_id;
  select * into payment from public.payments where payments.id = refund.payment_id;
  -- Of a deleted account: an admin pays it out.
  update public.wallet_payouts set state = 'open' where wallet_payouts.id = refund.id;
  if not found and private.went_to_wallet(invoice, payment) then
    perform private.move_money(
      private.wallet_of(invoice.identity_id, 'held'), private.wallet_of(invoice.identity_id),
      refund.amount, 'release', 'release', refund.id, invoice.id);
  end if;
  perform private.raise_alarm('refund_rejected', refund.id::text,
    jsonb_build_object('invoice', invoice.number, 'amount', refund.amount));
end
$$;
comment on function private.reject_refund is
  'The provider rejected a refund: what was held is released, or waits for an admin where the account is '
  'deleted, and an alarm is raised.';

create function private.record_refund(payment public.payments, answer jsonb) returns uuid
  language plpgsql
  security definer -- records a refund that was made at the provider; the invoice is locked
  set search_path = ''
as $$
declare
  invoice public.invoices;
  amount numeric := (answer ->> 'amount')::numeric;
  is_surplus boolean := payment.state = 'surplus';
  room numeric;
  available numeric;
  made uuid;
begin
  select * into invoice from public.invoices where invoices.id = payment.invoice_id;
  room := case when is_surplus then private.surplus_room(payment)
    else private.refund_room(invoice) end;
  if payment.captured_at is null or not amount between 0.001 and room then
    return null;
  end if;
  insert into public.refunds (
    invoice_id, payment_id, destination, amount, reason, asked, provider_ref)
  values (invoice.id, payment.id, 'source', amount, 'made at the provider', false,
    answer ->> 'refundRef')
  returning id into made;
  if private.went_to_wallet(invoice, payment) then
    select wallets.balance into available from public.wallets
    where wallets.id = private.wallet_of(invoice.identity_id) for no key update;
    if available < amount then
      perform private.raise_alarm('refund_uncovered', made::text, jsonb_build_object(
        'invoice', invoice.number, 'payment', payment.id, 'amount', amount,
        'available', available));
    end if;
  end if;
  return made;
end
$$;
comment on function private.record_refund is
  'Records a refund that nobody here asked for, if there is room for it. Raises an alarm where the '
  'wallet that got the money holds less by now.';

create function private.find_refund(payment public.payments, answer jsonb) returns public.refunds
  language plpgsql
  stable
  security definer -- finds a refund for functions that asked the provider
  set search_path = ''
as $$
declare
  refund public.refunds;
begin
  select * into refund from public.refunds
  where refunds.payment_id = payment.id
    and (refunds.provider_ref = answer ->> 'refundRef'
      or refunds.provider_ref is null and refunds.id::text = answer ->> 'reference')
  order by refunds.provider_ref nulls last
  limit 1;
  if refund.id is null and not answer ? 'reference' then
    -- The answer to our request was lost, and this provider does not repeat our reference.
    select * into refund from public.refunds
    where refunds.payment_id = payment.id and refunds.state = 'requested'
      and refunds.provider_ref is null and refunds.amount = (answer ->> 'amount')::numeric
    order by refunds.created_at
    limit 1;
  end if;
  return refund;
end
$$;
comment on function private.find_refund is
  'The refund that the provider means: by its id, by ours, or where it names neither by a request '
  'of ours that has no answer.';

create function private.apply_refund_answer(
  answer jsonb, reported_amount text default null, reported_currency text default null
) returns text
  language plpgsql
  security definer -- writes for functions that asked the provider
  set search_path = ''
as $$
declare
  payment public.payments;
  refund public.refunds;
begin
  select * into payment from public.payments
  where payments.provider = answer ->> 'provider'
    and payments.provider_ref = answer ->> 'chargeRef';
  if payment.id is null then
    perform private.raise_alarm('refund_unmatched', answer ->> 'refundRef', answer);
    return 'unmatched';
  end if;
  perform private.lock_invoice(payment.invoice_id);
  refund := private.find_refund(payment, answer);
  if refund.id is null and answer ->> 'status' <> 'refunded' then
    return 'ignored';
  elsif answer ->> 'currency' is distinct from payment.currency
    or answer ->> 'amount' is null or refund.amount <> (answer ->> 'amount')::numeric
    or reported_amount is not null
      and private.parse_amount(reported_amount) is distinct from (answer ->> 'amount')::numeric
    or reported_currency is not null and reported_currency <> payment.currency then
    perform private.raise_alarm(
      'refund_mismatch', coalesce(refund.id::text, answer ->> 'refundRef'),
      answer || jsonb_build_object('told', reported_amount, 'toldCurrency', reported_currency));
    return 'mismatch';
  elsif refund.id is null then
    refund.id := private.record_refund(payment, answer);
    if refund.id is null then
      perform private.raise_alarm('refund_unmatched', answer ->> 'refundRef', answer);
      return 'unmatched';
    end if;
    perform private.book_refund(refund.id);
    return 'refunded';
  end if;

  update public.refunds
  set provider_ref = coalesce(refunds.provider_ref, answer ->> 'refundRef')
  where refunds.id = refund.id;
  if refund.state <> 'requested' then
    return 'repeated';
  elsif answer ->> 'status' = 'refunded' then
    perform private.book_refund(refund.id);
    return 'refunded';
  elsif answer ->> 'status' = 'failed' then
    perform private.reject_refund(refund.id);
    return 'failed';
  end if;
  return 'pending';
end
$$;
comment on function private.apply_refund_answer is
  'Compares what the provider answered about a refund with what was requested and reported, and '
  'books or rejects it.';

create function private.receive_refund(
  provider text, event_key text, kind text, payload_sha256 text default null,
  reported_amount text default null, charge jsonb default null, refund jsonb default null,
  reported_currency text default null
) returns json
  language plpgsql
  security definer -- the webhook and the job: for nobody in particular
  set search_path = ''
as $$
declare
  event_id bigint := private.record_event(
    provider, event_key, kind, payload_sha256, reported_amount, reported_currency);
  payment public.payments;
  result text := 'ignored';
begin
  if event_id is null and receive_refund.kind <> 'look_up' then
    return private.event_answer('repeated', true);
  end if;
  -- A payment is captured before it is refunded, in whatever order the events arrive.
  payment := private.find_payment(receive_refund.provider, charge);
  if payment.id is not null and payment.captured_at is null then
    perform private.apply_payment_answer(payment, charge);
  end if;
  if refund is not null then
    result := private.apply_refund_answer(
      refund || jsonb_build_object('provider', receive_refund.provider),
      reported_amount, reported_currency);
  end if;
  perform private.finish_event(event_id, result, payment.id, refund);
  return private.event_answer(result);
end
$$;
comment on function private.receive_refund is
  'Takes in what became of a refund, as the provider answered when asked for it and its charge.';

create function private.refund_answered(
  refund_id uuid, provider_ref text, status text
) returns json
  language plpgsql
  security definer -- writes what the provider answered to our request
  set search_path = ''
as $$
declare
  refund public.refunds;
begin
  perform private.lock_invoice(refunds.invoice_id) from public.refunds
  where refunds.id = refund_answered.refund_id;
  select * into refund from public.refunds where refunds.id = refund_answered.refund_id;
  if refund.provider_ref is null and exists (
    select from public.refunds as known
    where known.payment_id = refund.payment_id
      and known.provider_ref = refund_answered.provider_ref
  ) then
    -- That refund was reported before and is booked: this request is released.
    perform private.raise_alarm('refund_mismatch', refund_id::text,
      jsonb_build_object('refundRef', provider_ref, 'status', status));
    perform private.reject_refund(refund_id);
    return private.refund_answer(refund_id);
  end if;
  update public.refunds
  set provider_ref = coalesce(refunds.provider_ref, refund_answered.provider_ref),
      looked_up_at = now()
  where refunds.id = refund_answered.refund_id;
  if status = 'failed' then
    perform private.reject_refund(refund_id);
  elsif status = 'refunded' and refund.state = 'requested' then
    perform private.book_refund(refund_id);
  end if;
  return private.refund_answer(refund_id);
end
$$;
comment on function private.refund_answered is
  'What the provider answered when a refund was requested.';

grant execute on function private.receive_refund, private.refund_answered to backend;
