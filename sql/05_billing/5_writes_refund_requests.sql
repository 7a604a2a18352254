-- A refund is asked of the provider: what it answers to that, and what its silence means. What it reports
-- by itself, or when it is asked what became of one: 5_writes_refund_events.sql.

create function private.refund_repeats_for() returns interval
  language sql
  immutable
  return interval '23 hours';
comment on function private.refund_repeats_for is
  'For how long a request for a refund may be repeated: Tap knows a reference again for 24 hours, and by '
  'then has reported what it did.';

create function private.begin_refund(refund_id uuid) returns json
  language plpgsql
  security definer -- writes a refund that is about to be asked for
  set search_path = ''
as $$
declare
  is_first boolean;
begin
  update public.refunds set sent_at = clock_timestamp()
  where refunds.id = begin_refund.refund_id and refunds.sent_at is null
    and refunds.state = 'requested' and refunds.provider_ref is null;
  is_first := found;
  return (
    select private.refund_order(refunds.id)::jsonb || jsonb_build_object(
      'repeated', not is_first,
      'tooLate', refunds.sent_at < now() - private.refund_repeats_for())
    from public.refunds where refunds.id = begin_refund.refund_id
  );
end
$$;
comment on function private.begin_refund is
  'What a provider needs to make a refund, whether it was asked for that before, and so long ago that it '
  'would take it for another one; null where it is requested no more. First, in a transaction of its '
  'own: the answer may get lost.';

create function private.refund_answered(
  refund_id uuid, provider_ref text, status text
) returns json
  language plpgsql
  security definer -- writes what the provider answered to our request
  set search_path = ''
as $$
declare
  refund public.refunds;
  payment public.payments;
begin
  perform private.lock_invoice(refunds.invoice_id) from public.refunds
  where refunds.id = refund_answered.refund_id;
  select * into refund from public.refunds where refunds.id = refund_answered.refund_id;
  select * into payment from public.payments where payments.id = refund.payment_id;
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
  perform private.take_refund_word(refund, payment, jsonb_build_object(
    'refundRef', coalesce(provider_ref, refund_id::text), 'chargeRef', payment.provider_ref,
    'provider', payment.provider, 'status', status, 'amount', refund.amount,
    'currency', payment.currency, 'reference', refund_id));
  return private.refund_answer(refund_id);
end
$$;
comment on function private.refund_answered is
  'What the provider answered when a refund was requested.';

create function private.refund_declined(refund_id uuid, repeated boolean, listed boolean)
  returns json
  language plpgsql
  security definer -- writes what the provider answered to our request
  set search_path = ''
as $$
declare
  refund public.refunds;
begin
  perform private.lock_invoice(refunds.invoice_id) from public.refunds
  where refunds.id = refund_declined.refund_id;
  select * into refund from public.refunds
  where refunds.id = refund_declined.refund_id and refunds.state = 'requested'
    and refunds.provider_ref is null;
  if not repeated or listed then
    perform private.reject_refund(refund.id);
  elsif refund.id is not null and refund.declined_at is null then
    -- It may say no because it has done it: there is nothing left to refund.
    update public.refunds set declined_at = now() where refunds.id = refund.id;
    perform private.raise_alarm('refund_unclear', refund.id::text,
      jsonb_build_object('amount', refund.amount, 'since', refund.sent_at));
  end if;
  return private.refund_answer(refund_id);
end
$$;
comment on function private.refund_declined is
  'The provider says no to a request for a refund. To a first one, or where the list of its refunds was '
  'read and has none, there is none; no to a repetition is no word about the first: that stays requested, '
  'with an alarm, for a day.';

create function private.give_up_refund(refund_id uuid) returns json
  language plpgsql
  security definer -- writes what the provider never answered
  set search_path = ''
as $$
declare
  refund public.refunds;
begin
  perform private.lock_invoice(refunds.invoice_id) from public.refunds
  where refunds.id = give_up_refund.refund_id;
  select * into refund from public.refunds
  where refunds.id = give_up_refund.refund_id and refunds.state = 'requested'
    and refunds.provider_ref is null
    and refunds.sent_at < now() - private.refund_repeats_for();
  if refund.declined_at is not null then
    perform private.reject_refund(refund.id);
  elsif refund.id is not null then
    perform private.raise_alarm('refund_unanswered', refund.id::text,
      jsonb_build_object('amount', refund.amount, 'since', refund.sent_at));
  end if;
  return private.refund_answer(refund_id);
end
$$;
comment on function private.give_up_refund is
  'A refund that cannot be asked for any more: one that the provider said no to when it was asked again, '
  'and has not reported in a day, there is none of; one that it never answered stays, with an alarm.';

grant execute on function
  private.begin_refund, private.refund_answered, private.refund_declined, private.give_up_refund
  to backend;
