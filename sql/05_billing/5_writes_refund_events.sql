create function private.reject_refund(refund_id uuid) returns void
  language plpgsql
  security definer -- releases held money; the caller has locked the invoice
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
  perform private.lock_payouts(invoice.account_id);
  select * into payment from public.payments where payments.id = refund.payment_id;
  -- If the refund has a payout, the account is deleted or banned, and an admin has to pay the amount
  -- out.
  update public.wallet_payouts set state = 'open' where wallet_payouts.id = refund.id;
  if found then
    perform private.take_back_payouts(invoice.account_id);
  elsif private.went_to_wallet(invoice, payment) then
    perform private.move_money(
      private.wallet_of(invoice.identity_id, 'held'), private.wallet_of(invoice.identity_id),
      refund.amount, 'release', 'release', refund.id, invoice.id);
  end if;
  perform private.raise_alarm('refund_rejected', refund.id::text,
    jsonb_build_object('invoice', invoice.number, 'amount', refund.amount));
  perform private.book_unmatched_refunds(payment);
end
$$;
comment on function private.reject_refund is
  'Rejects a refund and raises an alarm. The held money goes back to the wallet. If the account is '
  'deleted or banned, the money waits for an admin''s decision instead.';

create function private.note_unmatched_refund(answer jsonb) returns void
  language plpgsql
  security definer -- writes a table closed to clients
  set search_path = ''
as $$
begin
  insert into private.unmatched_refunds as noted (provider, refund_ref, charge_ref, answer)
  values (answer ->> 'provider', answer ->> 'refundRef', answer ->> 'chargeRef', answer)
  on conflict on constraint unmatched_refunds_pkey do update
  set charge_ref = excluded.charge_ref, answer = excluded.answer;
  perform private.raise_alarm('refund_unmatched', answer ->> 'refundRef', answer);
end
$$;

create function private.end_unmatched_refund(provider text, refund_ref text, note text) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  delete from private.unmatched_refunds
  where unmatched_refunds.provider = end_unmatched_refund.provider
    and unmatched_refunds.refund_ref = end_unmatched_refund.refund_ref;
  update private.alarms set settled_at = now(), settled_note = end_unmatched_refund.note
  where alarms.kind = 'refund_unmatched' and alarms.subject_id = end_unmatched_refund.refund_ref
    and alarms.settled_at is null;
end
$$;

create function private.record_refund(payment public.payments, answer jsonb) returns uuid
  language plpgsql
  security definer -- records a refund made at the provider; the caller has locked the invoice
  set search_path = ''
as $$
declare
  made uuid;
begin
  insert into public.refunds (
    invoice_id, payment_id, destination, amount, reason, requested_here, provider_ref)
  values (payment.invoice_id, payment.id, 'source', (answer ->> 'amount')::numeric,
    'made at the provider', false, answer ->> 'refundRef')
  returning id into made;
  return made;
end
$$;
comment on function private.record_refund is
  'Records a refund that was made at the provider, not requested by us.';

create function private.book_unheld_refund(
  refund_id uuid, payment public.payments, answer jsonb
) returns text
  language plpgsql
  security definer -- books a refund made at the provider; the caller has locked the invoice
  set search_path = ''
as $$
declare
  invoice public.invoices;
  amount constant numeric := (answer ->> 'amount')::numeric;
  room numeric;
  available numeric;
begin
  select * into invoice from public.invoices where invoices.id = payment.invoice_id;
  room := case when payment.state = 'surplus' then private.surplus_room(payment)
    else private.refund_room(invoice) end;
  if payment.captured_at is null or not amount between 0.001 and room then
    perform private.note_unmatched_refund(answer);
    return 'unmatched';
  end if;
  refund_id := coalesce(refund_id, private.record_refund(payment, answer));
  if private.went_to_wallet(invoice, payment) then
    perform private.return_payouts(payment, invoice.identity_id, amount);
    select wallets.balance into available from public.wallets
    where wallets.id = private.wallet_of(invoice.identity_id) for no key update;
    if available < amount then
      perform private.raise_alarm('refund_uncovered', refund_id::text, jsonb_build_object(
        'invoice', invoice.number, 'payment', payment.id, 'amount', amount,
        'available', available));
    end if;
  end if;
  perform private.book_refund(refund_id);
  return 'refunded';
end
$$;
comment on function private.book_unheld_refund is
  'Books a refund for which no money is held, because we did not request it or because it was '
  'rejected. If it exceeds what can be refunded or the payment is not captured, it is stored as '
  'unmatched.';

create function private.take_refund_word(
  refund public.refunds, payment public.payments, answer jsonb
) returns text
  language plpgsql
  security definer -- books or rejects a refund; the caller has locked the invoice
  set search_path = ''
as $$
declare
  word constant text := answer ->> 'status';
begin
  case
    when refund.state = 'requested' and word = 'refunded' then
      perform private.book_refund(refund.id);
      return 'refunded';
    when refund.state = 'requested' and word = 'failed' then
      perform private.reject_refund(refund.id);
      return 'failed';
    when refund.state = 'requested' then
      return 'pending';
    when refund.state = 'rejected' and word = 'refunded' then
      return private.book_unheld_refund(refund.id, payment, answer);
    when refund.state = 'rejected' and word = 'pending' then
      perform private.raise_alarm('refund_under_way', refund.id::text, answer);
      return 'pending';
    when refund.state = 'settled' and word = 'failed' then
      perform private.raise_alarm('refund_reversed', refund.id::text, answer);
      return 'mismatch';
    else
      return 'repeated';
  end case;
end
$$;
comment on function private.take_refund_word is
  'Applies the provider''s latest status to a refund in any state (docs/contract/billing.md).';

create function private.book_unmatched_refunds(payment public.payments) returns void
  language plpgsql security definer set search_path = ''
as $$
declare
  answer jsonb;
begin
  for answer in
    select unmatched_refunds.answer from private.unmatched_refunds
    where unmatched_refunds.provider = payment.provider
      and unmatched_refunds.charge_ref = payment.provider_ref
    order by unmatched_refunds.reported_at
  loop
    perform private.apply_refund_answer(answer);
  end loop;
end
$$;

create function private.find_refund(payment public.payments, answer jsonb) returns public.refunds
  language plpgsql stable
  security definer -- reads refunds, which no client may read
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
    -- The provider returned no reference. This may be our own request, whose response was lost.
    select * into refund from public.refunds
    where refunds.payment_id = payment.id and refunds.state in ('requested', 'rejected')
      and refunds.provider_ref is null and refunds.amount = (answer ->> 'amount')::numeric
    order by refunds.state = 'requested' desc, refunds.created_at
    limit 1;
  end if;
  return refund;
end
$$;
comment on function private.find_refund is
  'Finds a refund by the provider''s id or by ours. If the provider returned no reference, finds '
  'the oldest request of this amount that the provider has not responded to.';

create function private.apply_refund_answer(
  answer jsonb, reported_amount text default null, reported_currency text default null
) returns text
  language plpgsql
  security definer -- writes refunds, for functions of the backend
  set search_path = ''
as $$
declare
  payment public.payments;
  refund public.refunds;
begin
  select * into payment from public.payments
  where payments.provider = answer ->> 'provider'
    and payments.provider_ref = answer ->> 'chargeRef';
  if payment.id is not null then
    perform private.lock_invoice(payment.invoice_id);
    -- The payment may have been captured while this waited for the lock.
    select * into payment from public.payments where payments.id = payment.id;
    refund := private.find_refund(payment, answer);
  end if;
  if answer ->> 'status' = 'failed' then
    -- The provider's latest report counts, even if it reported success before.
    perform private.end_unmatched_refund(
      answer ->> 'provider', answer ->> 'refundRef', 'it failed');
  end if;
  if refund.id is null and answer ->> 'status' is distinct from 'refunded' then
    return 'ignored';
  elsif payment.id is null then
    perform private.note_unmatched_refund(answer);
    return 'unmatched';
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
    return private.book_unheld_refund(null, payment, answer);
  end if;

  update public.refunds
  set provider_ref = coalesce(refunds.provider_ref, answer ->> 'refundRef')
  where refunds.id = refund.id;
  return private.take_refund_word(refund, payment, answer);
end
$$;
comment on function private.apply_refund_answer is
  'Checks the provider''s response against our request and the event, and books or rejects the '
  'refund.';

create function private.receive_refund(
  provider text, event_key text, kind text, payload_sha256 text default null,
  reported_amount text default null, charge jsonb default null, refund jsonb default null,
  reported_currency text default null
) returns json
  language plpgsql
  security definer -- the backend calls it for a webhook or job, where no account is acting
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
  -- The payment is settled first, because its event may arrive later than the event of the refund.
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

create function private.on_refund_state() returns trigger
  language plpgsql
  security definer -- settles alarms, which clients may not write
  set search_path = ''
as $$
begin
  update private.alarms set settled_at = now(), settled_note = 'it is ' || new.state
  where alarms.subject_id = new.id::text and alarms.settled_at is null
    and (alarms.kind in ('refund_unclear', 'refund_unanswered', 'refund_under_way')
      or alarms.kind = 'refund_rejected' and new.state = 'settled');
  if new.state = 'settled' then
    perform private.end_unmatched_refund(payments.provider, new.provider_ref, 'booked')
    from public.payments where payments.id = new.payment_id;
  end if;
  return null;
end
$$;
comment on function private.on_refund_state is
  'Settles the alarms about a refund once its outcome is known. When the refund is booked, also '
  'deletes its row in private.unmatched_refunds.';

create trigger refunds_settle_their_alarms
  after update of state on public.refunds
  for each row when (old.state <> new.state)
  execute function private.on_refund_state();

grant execute on function private.receive_refund to backend;
