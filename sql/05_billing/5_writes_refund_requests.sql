create function private.refund_repeats_for() returns interval
  language sql immutable
  return interval '23 hours';
comment on function private.refund_repeats_for is
  'How long a refund request may be repeated. Tap recognises a repeated reference for 24 hours.';

create function private.begin_refund(refund_id uuid) returns json
  language plpgsql
  security definer -- writes refunds, which the backend may not write itself
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
  'Returns the request with repeated (it was sent before) and tooLate (it was sent too long ago to '
  'be repeated); null if the refund is no longer in the state requested. The caller commits before '
  'it sends the request, because the response may get lost.';

create function private.refund_answered(
  refund_id uuid, provider_ref text, status text
) returns json
  language plpgsql security definer set search_path = ''
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
    -- Another refund already has this provider_ref, so the money held for this refund is released.
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

create function private.refund_declined(refund_id uuid, repeated boolean, listed boolean)
  returns json
  language plpgsql security definer set search_path = ''
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
    -- The provider may have refused because it has already made the refund and nothing is left to
    -- refund.
    update public.refunds set declined_at = now() where refunds.id = refund.id;
    perform private.raise_alarm('refund_unclear', refund.id::text,
      jsonb_build_object('amount', refund.amount, 'since', refund.sent_at));
  end if;
  return private.refund_answer(refund_id);
end
$$;
comment on function private.refund_declined is
  'Handles the provider''s refusal of a refund. If the first request is refused, the refund is '
  'rejected. If a repeated request is refused, the refund may have been made already, so it stays '
  'requested for a day, with an alarm. If listed is true, the provider''s list of refunds does not '
  'contain it, so it is rejected at once.';

create function private.give_up_refund(refund_id uuid) returns json
  language plpgsql security definer set search_path = ''
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
  'After a day, rejects a refund if a repeated request was refused. If the provider never '
  'responded, the refund stays requested, with an alarm.';

grant execute on function
  private.begin_refund, private.refund_answered, private.refund_declined, private.give_up_refund
  to backend;
