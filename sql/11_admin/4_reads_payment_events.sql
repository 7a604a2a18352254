create function private.payment_event_records(event_ids bigint[])
  returns table (ordinal bigint, record json)
  language plpgsql stable
  rows 20
  security definer -- reads all payments; its caller calls require_admin
  set search_path = ''
as $$
begin
  return query
  select
    requested.ordinal,
    json_build_object(
      'id', payment_events.id, 'provider', payment_events.provider,
      'eventKey', payment_events.event_key, 'kind', payment_events.kind,
      'paymentId', payment_events.payment_id, 'invoiceId', invoices.id,
      'invoiceNumber', invoices.number, 'invoiceState', invoices.state,
      'status', payment_events.status, 'amount', payment_events.amount,
      'currency', payment_events.currency, 'outcome', payment_events.outcome,
      'receivedAt', payment_events.received_at, 'processedAt', payment_events.processed_at
    )
  from unnest(event_ids) with ordinality as requested (id, ordinal)
  join public.payment_events on payment_events.id = requested.id
  left join public.payments on payments.id = payment_events.payment_id
  left join public.invoices on invoices.id = payments.invoice_id
  order by requested.ordinal;
end
$$;

create function private.list_payment_events(
  outcome text default null, provider text default null, kind text default null,
  payment_id uuid default null, invoice_id uuid default null, invoice_number text default null,
  invoice_state text default null, currency text default null, amount_min numeric default null,
  amount_max numeric default null, processed boolean default null, since timestamptz default null,
  until timestamptz default null, sort text default 'newest', page_cursor text default null,
  page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  -- Events without an amount sort before all others, unprocessed events after all others.
  sorts constant jsonb := jsonb_build_object(
    'oldest', array['payment_events.received_at', 'payment_events.id'],
    'amount', array['coalesce(payment_events.amount, ''-Infinity'')', 'payment_events.id'],
    'processedAt', array['coalesce(payment_events.processed_at, ''infinity'')',
      'payment_events.id']);
  filters constant jsonb := jsonb_strip_nulls(jsonb_build_object(
    'outcome', outcome, 'provider', provider, 'kind', kind, 'payment_id', payment_id,
    'invoice_id', invoice_id, 'invoice_number', invoice_number, 'invoice_state', invoice_state,
    'currency', currency, 'amount_min', amount_min, 'amount_max', amount_max,
    'processed', processed, 'since', since, 'until', until));
  query text := concat_ws(' ', 'list_payment_events', private.require_admin(), filters, sort);
  key jsonb := private.cursor_key(query, page_cursor);
  keys jsonb[];
begin
  if not private.is_sort(sorts, sort) then
    perform private.refuse_field('sort', 'invalid');
  end if;
  keys := private.sorted_keys($sql$
    from public.payment_events
    left join public.payments on payments.id = payment_events.payment_id
    left join public.invoices on invoices.id = payments.invoice_id
    where (not $1 ? 'outcome' or payment_events.outcome = $1 ->> 'outcome')
      and (not $1 ? 'provider' or payment_events.provider = $1 ->> 'provider')
      and (not $1 ? 'kind' or payment_events.kind = $1 ->> 'kind')
      and (not $1 ? 'payment_id' or payment_events.payment_id = ($1 ->> 'payment_id')::uuid)
      and (not $1 ?| array['invoice_id', 'invoice_number'] or payment_events.payment_id = any (
        array(
          select of_invoice.id from public.payments as of_invoice
          join public.invoices as invoice on invoice.id = of_invoice.invoice_id
          where (not $1 ? 'invoice_id' or invoice.id = ($1 ->> 'invoice_id')::uuid)
            and (not $1 ? 'invoice_number' or invoice.number = $1 ->> 'invoice_number')
        )))
      and (not $1 ? 'invoice_state' or invoices.state = $1 ->> 'invoice_state')
      and (not $1 ? 'currency' or payment_events.currency = $1 ->> 'currency')
      and (not $1 ? 'amount_min'
        or coalesce(payment_events.amount, '-Infinity') >= ($1 ->> 'amount_min')::numeric)
      and (not $1 ? 'amount_max' or payment_events.amount is not null
        and coalesce(payment_events.amount, '-Infinity') <= ($1 ->> 'amount_max')::numeric)
      and (not $1 ? 'processed'
        or (payment_events.processed_at is not null) = ($1 ->> 'processed')::boolean)
      and (not $1 ? 'since' or payment_events.received_at >= ($1 ->> 'since')::timestamptz)
      and (not $1 ? 'until' or payment_events.received_at < ($1 ->> 'until')::timestamptz)
    $sql$, sorts, sort, filters, key, page_size);
  return query
  select
    coalesce(json_agg(records.record order by records.ordinal), '[]'),
    private.next_cursor(query, to_jsonb(keys[page_size:]))
  from private.payment_event_records(
    private.key_ids(keys[:page_size])::bigint[]) as records;
end
$$;
comment on function private.list_payment_events is
  'Api: For admins: events of payment providers and their effects, filtered by provider, outcome, '
  'payment, invoice, amount and time; sorted by the time of arrival, the amount or the time of '
  'processing. 403 admin_only.';

grant execute on function private.list_payment_events to authenticated;
