create function private.set_provider(provider text, mode text) returns void
  language sql set search_path = ''
as $$
  select set_config('facade.provider',
    jsonb_build_object('provider', set_provider.provider, 'mode', set_provider.mode)::text, true)
$$;
comment on function private.set_provider is
  'Sets the payment provider for this transaction. Only the edge functions call this.';

create function private.charge_invoice(
  invoice_id uuid, return_url text, idempotency_key text default null
) returns json
  language plpgsql security definer set search_path = ''
as $$
declare
  owner_id uuid := private.lock_identity();
  chosen jsonb := nullif(current_setting('facade.provider', true), '');
  stored json;
  invoice public.invoices;
  payment public.payments;
begin
  if idempotency_key !~ '^[\x20-\x7E]{1,64}$' then
    perform private.refuse_field('Idempotency-Key', 'invalid');
  elsif idempotency_key is not null then
    stored := private.stored_answer(idempotency_key, jsonb_build_object(
      'name', 'charge_invoice', 'invoice', charge_invoice.invoice_id, 'return', return_url));
    if stored is not null then
      return stored;
    end if;
  end if;

  select * into invoice from public.invoices
  where invoices.id = charge_invoice.invoice_id and invoices.identity_id = owner_id
  for update;
  if invoice.id is null then
    perform private.refuse(404, 'invoice_not_found');
  elsif invoice.paid_at is not null then
    perform private.refuse(409, 'invoice_already_paid');
  elsif invoice.state in ('void', 'expired')
    or invoice.state in ('open', 'failed') and invoice.due_at <= now() then
    perform private.refuse(409, 'status_transition_invalid',
      jsonb_build_object('from', invoice.state, 'to', 'processing'));
  elsif chosen is null then
    perform private.refuse(503, 'payment_not_configured');
  end if;

  select * into payment from public.payments
  where payments.invoice_id = invoice.id and payments.state in ('starting', 'open')
  for update;
  if payment.state = 'open' and payment.created_at > now() - interval '15 minutes' then
    if payment.return_url <> charge_invoice.return_url then
      -- Only the sandbox can change the return URL of a charge.
      if payment.provider <> 'sandbox' then
        perform private.refuse(409, 'payment_in_progress');
      end if;
      update public.payments set return_url = charge_invoice.return_url
      where payments.id = payment.id;
      update private.sandbox_charges set return_url = charge_invoice.return_url
      where sandbox_charges.id = payment.provider_ref;
    end if;
    return json_build_object('paymentId', payment.id, 'redirectUrl', payment.redirect_url);
  elsif payment.state = 'starting' and payment.requested_at > clock_timestamp() - interval '6 seconds'
  then
    return json_build_object('paymentId', payment.id, 'wait', true);
  end if;
  -- Only requests that go to the provider are counted. Counting here cannot cause a deadlock,
  -- because no function locks an invoice after this counter.
  perform private.count_action('charges');
  if payment.state = 'starting' and payment.provider = chosen ->> 'provider'
    and payment.return_url = charge_invoice.return_url then
    -- The reference stays the same, so that no second charge is created if the provider already has
    -- this one.
    update public.payments set requested_at = clock_timestamp() where payments.id = payment.id;
  else
    update public.payments set state = 'superseded' where payments.id = payment.id;
    insert into public.payments (invoice_id, provider, mode, amount, return_url)
    values (invoice.id, chosen ->> 'provider', chosen ->> 'mode', invoice.total,
      charge_invoice.return_url)
    returning * into payment;
  end if;
  update public.invoices set state = 'open' where invoices.id = invoice.id and state = 'failed';
  update public.invoices set state = 'processing' where invoices.id = invoice.id and state = 'open';
  return private.charge_order(payment.id);
end
$$;
comment on function private.charge_invoice is
  'Api: Creates a charge for an invoice, or returns the open charge if it is less than 15 minutes '
  'old. 404 invoice_not_found; 409 invoice_already_paid, status_transition_invalid for a void or '
  'expired invoice, payment_in_progress for another return_url if the provider cannot change it; '
  '503 payment_not_configured unless the edge functions call this.';

create function private.get_payment_status(invoice_id uuid, out invoice text, out due json)
  language plpgsql security definer set search_path = ''
as $$
begin
  invoice := private.get_invoice(invoice_id);
  if current_setting('transaction_read_only')::boolean then
    return;
  end if;
  with claimed as materialized (
    select payments.id from public.payments
    join public.invoices on invoices.id = payments.invoice_id
    where payments.invoice_id = get_payment_status.invoice_id and invoices.paid_at is null
      and payments.state in ('starting', 'open', 'superseded')
      and payments.created_at < clock_timestamp() - interval '5 seconds'
      and coalesce(payments.looked_up_at < clock_timestamp() - interval '10 seconds', true)
    order by payments.created_at desc
    limit 1
    for update of payments skip locked
  )
  update public.payments set looked_up_at = clock_timestamp()
  from claimed where claimed.id = payments.id
  returning private.due_payment(payments) into due;
end
$$;
comment on function private.get_payment_status is
  'Facade: returns an invoice of the acting identity as JSON text and, at most once every 10 '
  'seconds, its newest pending payment, which the caller looks up at the provider. 404 '
  'invoice_not_found.';

create function private.charge_started(
  payment_id uuid, provider_ref text, redirect_url text, idempotency_key text default null
) returns json
  language plpgsql
  security definer -- writes payments, which the backend may not write itself
  set search_path = ''
as $$
declare
  started json := json_build_object(
    'paymentId', charge_started.payment_id, 'redirectUrl', charge_started.redirect_url);
begin
  if exists (
    select from public.payments
    join public.payments as own on own.id = charge_started.payment_id
    where payments.provider = own.provider and payments.id <> own.id
      and payments.provider_ref = charge_started.provider_ref
  ) then
    perform private.raise_alarm('charge_mismatch', charge_started.payment_id::text,
      jsonb_build_object('providerRef', charge_started.provider_ref));
    perform private.fail_payment(charge_started.payment_id, true);
    return null;
  end if;
  -- If a webhook arrived first, the payment already has its provider_ref and state.
  update public.payments
  set provider_ref = charge_started.provider_ref, redirect_url = charge_started.redirect_url,
      state = case payments.state when 'starting' then 'open' else payments.state end
  where payments.id = charge_started.payment_id;
  update private.idempotency_keys set answer = started
  from public.payments
  join public.invoices on invoices.id = payments.invoice_id
  where payments.id = charge_started.payment_id
    and idempotency_keys.account_id = invoices.account_id
    and idempotency_keys.key = charge_started.idempotency_key
    and idempotency_keys.answer is null;
  return started;
end
$$;
comment on function private.charge_started is
  'Returns the payment''s id and redirect URL. If the provider''s reference already belongs to '
  'another payment, raises an alarm and returns null.';

create function private.charge_refused(payment_id uuid, why text, alarming boolean) returns void
  language plpgsql security definer set search_path = ''
as $$
begin
  if alarming then
    perform private.raise_alarm('charge_mismatch', charge_refused.payment_id::text,
      jsonb_build_object('why', why));
  end if;
  perform private.fail_payment(charge_refused.payment_id, true);
end
$$;

create function private.fail_payment(payment_id uuid, quiet boolean default false) returns text
  language plpgsql
  security definer -- writes payments and invoices, for functions of the backend
  set search_path = ''
as $$
declare
  invoice public.invoices;
  before text;
begin
  invoice := private.lock_invoice((
    select payments.invoice_id from public.payments where payments.id = fail_payment.payment_id
  ));
  select payments.state into before from public.payments
  where payments.id = fail_payment.payment_id for update;
  if before not in ('starting', 'open', 'superseded') then
    return 'repeated';
  end if;
  update public.payments set state = 'failed' where payments.id = fail_payment.payment_id;
  if before <> 'superseded' and invoice.state = 'processing' then
    update public.invoices set state = 'failed' where invoices.id = invoice.id;
    if not quiet then
      perform private.notify(invoice.account_id, invoice.identity_id, 'invoice_failed', invoice.id,
        jsonb_build_object('number', invoice.number, 'amount', invoice.total));
    end if;
  end if;
  return 'failed';
end
$$;

grant execute on function private.set_provider, private.charge_started, private.charge_refused
  to backend;
grant execute on function private.charge_invoice, private.get_payment_status to authenticated;
