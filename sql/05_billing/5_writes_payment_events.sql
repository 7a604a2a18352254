-- A webhook only triggers a look-up at the provider. These functions apply the provider's response
-- to our look-up, the answer. It has ref (the provider's id of the charge), reference (the id of our
-- payment), status, amount, currency and mode.

create function private.settle_payment(payment_id uuid, answer jsonb) returns text
  language plpgsql
  security definer -- writes payment, invoice and ledger, and delivers what was bought
  set search_path = ''
as $$
declare
  invoice public.invoices;
  payment public.payments;
  given boolean;
  into_wallet boolean;
begin
  invoice := private.lock_invoice((
    select payments.invoice_id from public.payments where payments.id = settle_payment.payment_id
  ));
  select * into payment from public.payments
  where payments.id = settle_payment.payment_id for update;
  -- Booking refunds that were reported before this payment may reduce payouts, and payouts are
  -- locked before any wallet.
  perform private.lock_payouts(invoice.account_id);
  if payment.captured_at is not null then
    return 'repeated';
  end if;

  begin
    update public.payments
    set state = case when invoice.paid_at is null then 'captured' else 'surplus' end,
        captured_at = now(), provider_ref = coalesce(payments.provider_ref, answer ->> 'ref'),
        provider_payment_id = answer ->> 'paymentId',
        details = coalesce(answer -> 'details', '{}')
    where payments.id = payment.id
    returning * into payment;
  exception
    when unique_violation then -- the money has already been booked for another charge
      perform private.raise_alarm('payment_mismatch', payment.id::text,
        jsonb_build_object('expected', payment.amount, 'answer', answer - 'details'));
      return 'mismatch';
  end;

  if invoice.paid_at is not null then
    perform private.move_money(
      private.system_account('provider'), private.wallet_of(invoice.identity_id), payment.amount,
      'payment', 'charge', payment.id, invoice.id);
    perform private.raise_alarm('paid_twice', payment.id::text,
      jsonb_build_object('invoice', invoice.number, 'amount', payment.amount));
    perform private.book_unmatched_refunds(payment);
    return 'surplus';
  end if;

  update public.payments set state = 'superseded'
  where payments.invoice_id = invoice.id and payments.state in ('starting', 'open');
  given := private.can_deliver(invoice);
  into_wallet := invoice.purpose = 'topup' or not given;
  perform private.move_money(
    private.system_account('provider'),
    case when into_wallet then private.wallet_of(invoice.identity_id)
      else private.system_account('sales') end,
    payment.amount, case when invoice.purpose = 'topup' then 'topup' else 'payment' end,
    'charge', payment.id, invoice.id);
  perform private.mark_paid(invoice, 'charge', into_wallet);
  if given then
    perform private.deliver_invoice(invoice, 'invoice');
  else
    perform private.raise_alarm('paid_but_not_given', invoice.id::text,
      jsonb_build_object('invoice', invoice.number, 'state', invoice.state));
  end if;
  perform private.book_unmatched_refunds(payment);
  return 'paid';
end
$$;
comment on function private.settle_payment is
  'Books a captured charge, only once, and delivers the purchase. If the purchase cannot be '
  'delivered, the amount is credited to the wallet.';

create function private.find_payment(provider text, answer jsonb) returns public.payments
  language plpgsql stable
  security definer -- reads all payments, for functions of the backend
  set search_path = ''
as $$
declare
  payment public.payments;
begin
  select * into payment from public.payments
  where payments.provider = find_payment.provider and payments.provider_ref = answer ->> 'ref';
  if payment.id is null
    and answer ->> 'reference' ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    -- The event arrived before the provider's response to our request to create the charge.
    select * into payment from public.payments
    where payments.id = (answer ->> 'reference')::uuid
      and payments.provider = find_payment.provider
      and payments.provider_ref is null;
  end if;
  return payment;
end
$$;
comment on function private.find_payment is
  'Finds a payment by the provider''s id of the charge, otherwise by our payment id.';

create function private.apply_payment_answer(
  payment public.payments, answer jsonb,
  reported_amount text default null, reported_currency text default null
) returns text
  language plpgsql
  security definer -- writes payments, for functions of the backend
  set search_path = ''
as $$
begin
  if (answer ->> 'amount')::numeric is distinct from payment.amount
    or answer ->> 'currency' is distinct from payment.currency
    or answer ->> 'mode' is distinct from payment.mode
    or coalesce(answer ->> 'reference', payment.id::text) <> payment.id::text
    or reported_amount is not null
      and private.parse_amount(reported_amount) is distinct from payment.amount
    or reported_currency is not null and reported_currency <> payment.currency then
    perform private.raise_alarm('payment_mismatch', payment.id::text, jsonb_build_object(
      'expected', payment.amount, 'told', reported_amount, 'toldCurrency', reported_currency,
      'answer', answer - 'details'));
    return 'mismatch';
  end if;
  case answer ->> 'status'
    when 'paid' then return private.settle_payment(payment.id, answer);
    when 'failed' then
      -- A captured payment stays captured, and an alarm informs the admins.
      if payment.captured_at is not null then
        perform private.raise_alarm('payment_reversed', payment.id::text, answer - 'details');
        return 'mismatch';
      end if;
      return private.fail_payment(payment.id);
    else return 'pending';
  end case;
end
$$;
comment on function private.apply_payment_answer is
  'Settles or fails the payment, depending on the provider''s response. A mismatch only raises an '
  'alarm.';

create function private.is_final(event public.payment_events) returns boolean
  language sql immutable
  return event.kind = 'other'
    or event.outcome not in ('received', 'pending', 'ignored', 'unmatched');

create function private.record_event(
  provider text, event_key text, kind text, payload_sha256 text,
  reported_amount text, reported_currency text
) returns bigint
  language sql security definer set search_path = ''
as $$
  -- Of two concurrent calls, the second waits here for the first.
  insert into public.payment_events (provider, event_key, kind, payload_sha256, amount, currency)
  values (record_event.provider, record_event.event_key, record_event.kind,
    record_event.payload_sha256,
    private.parse_amount(reported_amount), reported_currency)
  on conflict on constraint payment_events_once_key
    do update set payload_sha256 = excluded.payload_sha256
    where not private.is_final(payment_events)
  returning payment_events.id
$$;
comment on function private.record_event is
  'Stores an event and returns its id, or null if the event is already stored with a final '
  'outcome.';

create function private.finish_event(
  event_id bigint, outcome text, payment_id uuid, answer jsonb
) returns void
  language sql security definer set search_path = ''
as $$
  update public.payment_events
  set outcome = finish_event.outcome, payment_id = finish_event.payment_id,
      status = answer ->> 'status',
      amount = coalesce(payment_events.amount, (answer ->> 'amount')::numeric),
      currency = coalesce(payment_events.currency, answer ->> 'currency'),
      processed_at = clock_timestamp()
  where payment_events.id = finish_event.event_id
$$;

create function private.event_answer(outcome text, duplicate boolean default false) returns json
  language sql stable
  return json_build_object('received', true, 'duplicate', duplicate, 'outcome', outcome,
    'final', outcome not in ('pending', 'ignored', 'unmatched'));

create function private.receive_payment(
  provider text, event_key text, kind text, payload_sha256 text default null,
  reported_amount text default null, answer jsonb default null, reported_currency text default null
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
  if event_id is null and receive_payment.kind <> 'look_up' then
    return private.event_answer('repeated', true);
  end if;
  if answer is not null then
    payment := private.find_payment(receive_payment.provider, answer);
    if payment.id is not null then
      result := private.apply_payment_answer(payment, answer, reported_amount, reported_currency);
    elsif answer ->> 'status' = 'paid' then
      perform private.raise_alarm('payment_unmatched', answer ->> 'ref', answer - 'details');
      result := 'unmatched';
    end if;
  end if;
  perform private.finish_event(event_id, result, payment.id, answer);
  return private.event_answer(result);
end
$$;
comment on function private.receive_payment is
  'Applies an event unless its outcome is already final. Our own look-ups are always applied.';

create function private.is_known_event(provider text, event_key text) returns boolean
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return exists (
    select from public.payment_events
    where payment_events.provider = is_known_event.provider
      and payment_events.event_key = is_known_event.event_key
      and private.is_final(payment_events)
  );
end
$$;
comment on function private.is_known_event is 'Whether an event is stored with a final outcome.';

create function private.parse_amount(written text) returns numeric
  language sql immutable
  return case when written ~ '^-?[0-9]{1,14}(\.[0-9]{1,6})?$' then written::numeric end;

grant execute on function private.receive_payment, private.is_known_event to backend;
