create function private.payment_records(invoice_id uuid) returns json
  language sql stable
  security definer -- reads payments of any invoice; the caller has checked access
  set search_path = ''
as $$
  select coalesce(json_agg(json_build_object(
    'id', payments.id,
    'provider', payments.provider,
    'state', payments.state,
    'amount', payments.amount,
    'currency', payments.currency,
    'method', payments.details ->> 'method',
    'reference', coalesce(payments.provider_payment_id, payments.provider_ref),
    'createdAt', payments.created_at,
    'capturedAt', payments.captured_at
  ) order by payments.created_at, payments.id), '[]')
  from public.payments where payments.invoice_id = payment_records.invoice_id
$$;

create function private.invoice_record(invoice public.invoices) returns json
  language sql stable
  security definer -- reads lines of any invoice; the caller has checked access
  set search_path = ''
as $$
  select json_build_object(
    'id', invoice.id,
    'number', invoice.number,
    'purpose', invoice.purpose,
    'lines', (
      select coalesce(json_agg(json_build_object(
        'kind', invoice_lines.kind,
        'titleAr', invoice_lines.title_ar,
        'titleEn', invoice_lines.title_en,
        'quantity', invoice_lines.quantity,
        'unitPrice', invoice_lines.unit_price,
        'amount', invoice_lines.amount
      ) order by invoice_lines.position), '[]')
      from public.invoice_lines where invoice_lines.invoice_id = invoice.id
    ),
    'total', invoice.total,
    'currency', invoice.currency,
    'state', invoice.state,
    'issuedAt', invoice.issued_at,
    'dueAt', invoice.due_at,
    'paidAt', invoice.paid_at,
    'paidWith', invoice.paid_with,
    'refunded', invoice.refunded,
    'payments', private.payment_records(invoice.id)
  )
$$;

create function private.refund_documents_of(invoice_id uuid) returns json
  language sql stable
  security definer -- reads documents of any invoice; the caller has checked access
  set search_path = ''
as $$
  select coalesce(json_agg(json_build_object(
    'number', refund_documents.number,
    'invoiceNumber', refund_documents.document ->> 'invoiceNumber',
    'issuedAt', refund_documents.made_at,
    'amount', refund_documents.document ->> 'amount',
    'currency', refund_documents.document ->> 'currency',
    'to', refund_documents.document ->> 'to',
    'payer', refund_documents.payer_name,
    'payerType', refund_documents.document ->> 'payerType',
    'seller', refund_documents.document -> 'seller'
  ) order by refund_documents.year, refund_documents.serial), '[]')
  from public.refund_documents
  where refund_documents.invoice_id = refund_documents_of.invoice_id
$$;

create function private.plan_record(plan public.plans) returns json
  language sql stable
  return json_build_object(
    'id', plan.id, 'code', plan.code, 'nameAr', plan.name_ar, 'nameEn', plan.name_en,
    'audience', plan.audience, 'price', plan.price, 'intervalDays', plan.interval_days,
    'activeListings', plan.active_listings, 'listingDays', plan.listing_days,
    'photosPerListing', plan.photos_per_listing, 'featuredCredits', plan.featured_credits);

create function private.refund_answer(refund_id uuid) returns json
  language sql stable
  security definer -- reads any refund, for administrators and the backend
  set search_path = ''
as $$
  select json_build_object(
    'refund', json_build_object(
      'id', refunds.id, 'amount', refunds.amount, 'to', refunds.destination, 'state', refunds.state,
      'reason', refunds.reason, 'createdAt', refunds.created_at, 'settledAt', refunds.settled_at),
    'invoice', private.invoice_record(invoices))
  from public.refunds
  join public.invoices on invoices.id = refunds.invoice_id
  where refunds.id = refund_answer.refund_id
$$;

create function private.charge_order(payment_id uuid) returns json
  language sql stable
  security definer -- reads the payer's phone and email; the caller has checked the owner
  set search_path = ''
as $$
  select json_build_object(
    'paymentId', payments.id,
    'start', true,
    'amount', to_char(payments.amount, 'FM999999999990.000'),
    'currency', payments.currency,
    'returnUrl', payments.return_url,
    'number', invoices.number,
    'titleAr', (
      select string_agg(invoice_lines.title_ar, '، ' order by invoice_lines.position)
      from public.invoice_lines where invoice_lines.invoice_id = invoices.id
    ),
    'customer', json_build_object(
      'name', identities.display_name, 'phone', accounts.phone, 'email', accounts.email,
      'language', accounts.language))
  from public.payments
  join public.invoices on invoices.id = payments.invoice_id
  join public.identities on identities.id = invoices.identity_id
  join public.accounts on accounts.id = invoices.account_id
  where payments.id = charge_order.payment_id
$$;

create function private.due_payment(payment public.payments) returns json
  language sql stable
  return json_build_object(
    'paymentId', payment.id, 'provider', payment.provider, 'ref', payment.provider_ref,
    'createdAt', payment.created_at);

create function private.refund_order(refund_id uuid) returns json
  language sql stable
  security definer -- reads refunds, which the backend may not read itself
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

grant execute on function private.refund_order to backend;

