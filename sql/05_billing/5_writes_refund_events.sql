-- What became of a refund at the provider, and what follows from it. How one is asked for, and what is
-- answered to that: 5_writes_refund_requests.sql.

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
  perform private.lock_payouts(invoice.account_id);
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
  perform private.book_unmatched_refunds(payment);
end
$$;
comment on function private.reject_refund is
  'The provider rejected a refund: what was held is released, or waits for an admin where the account is '
  'deleted, and an alarm is raised.';

create function private.note_unmatched_refund(answer jsonb) returns void
  language plpgsql
  security definer -- writes a closed table, for functions that asked the provider
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
comment on function private.note_unmatched_refund is
  'Notes a refund that the provider has made and that cannot be booked yet, and raises an alarm.';

create function private.end_unmatched_refund(provider text, refund_ref text, note text) returns void
  language plpgsql
  security definer -- writes closed tables, for whoever takes in the word of a provider
  set search_path = ''
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
comment on function private.end_unmatched_refund is
  'A refund that was noted as unmatched is booked, or failed at the provider after all: its alarm is '
  'settled.';

create function private.record_refund(payment public.payments, answer jsonb) returns uuid
  language plpgsql
  security definer -- records a refund that was made at the provider; the invoice is locked
  set search_path = ''
as $$
declare
  made uuid;
begin
  insert into public.refunds (
    invoice_id, payment_id, destination, amount, reason, asked, provider_ref)
  values (payment.invoice_id, payment.id, 'source', (answer ->> 'amount')::numeric,
    'made at the provider', false, answer ->> 'refundRef')
  returning id into made;
  return made;
end
$$;
comment on function private.record_refund is 'Records a refund that nobody here asked for.';

create function private.book_unheld_refund(
  refund_id uuid, payment public.payments, answer jsonb
) returns text
  language plpgsql
  security definer -- books what the provider has paid back; the invoice is locked
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
  'Books what the provider has paid back though nothing is held for it: nobody here asked for it, or it '
  'was taken as rejected. An alarm where there is no room for it, or the wallet that got the money, '
  'with what waits to be paid out to a deleted account, holds less by now.';

create function private.take_refund_word(
  refund public.refunds, payment public.payments, answer jsonb
) returns text
  language plpgsql
  security definer -- books or rejects a refund; the invoice is locked
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
  'What the provider says of a refund, in whatever state that is by now: its last word is booked or an '
  'alarm (docs/contract/billing.md has the table).';

create function private.book_unmatched_refunds(payment public.payments) returns void
  language plpgsql
  security definer -- reads a closed table, for whoever has made room
  set search_path = ''
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
comment on function private.book_unmatched_refunds is
  'Books the refunds that a provider reported of a payment while there was no room for them.';

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
    where refunds.payment_id = payment.id and refunds.state in ('requested', 'rejected')
      and refunds.provider_ref is null and refunds.amount = (answer ->> 'amount')::numeric
    order by refunds.state = 'requested' desc, refunds.created_at
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
  if payment.id is not null then
    perform private.lock_invoice(payment.invoice_id);
    -- It may have been captured while the lock was waited for.
    select * into payment from public.payments where payments.id = payment.id;
    refund := private.find_refund(payment, answer);
  end if;
  if answer ->> 'status' = 'failed' then
    -- The provider's last word counts, also where the first was that it had paid back.
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

create function private.on_refund_state() returns trigger
  language plpgsql
  security definer -- settles alarms, for whoever takes in the word of a provider
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
  'Once it is known what became of a refund, the alarms that asked that are settled, and it is no longer '
  'unmatched.';

create trigger refunds_settle_their_alarms
  after update of state on public.refunds
  for each row when (old.state <> new.state)
  execute function private.on_refund_state();

grant execute on function private.receive_refund to backend;
