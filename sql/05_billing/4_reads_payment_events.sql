-- What payment providers reported, for admins.

create function private.list_payment_events(
  outcome text, page_cursor text, page_size integer
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- everybody's payments, for admins only
  set search_path = ''
as $$
declare
  query text := concat_ws(' ', 'list_payment_events', private.require_admin(), outcome);
  key jsonb := private.cursor_key(query, page_cursor);
  before_id bigint := coalesce((key ->> 0)::bigint, 9223372036854775807);
begin
  return query
  with page as materialized (
    select payment_events.*, payments.invoice_id,
      row_number() over (order by payment_events.id desc) as place
    from public.payment_events
    left join public.payments on payments.id = payment_events.payment_id
    where payment_events.id < before_id
      and (list_payment_events.outcome is null
        or payment_events.outcome = list_payment_events.outcome)
    order by payment_events.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(json_build_object(
      'id', page.id, 'provider', page.provider, 'eventKey', page.event_key, 'kind', page.kind,
      'paymentId', page.payment_id, 'invoiceId', page.invoice_id, 'status', page.status,
      'amount', page.amount, 'currency', page.currency, 'outcome', page.outcome,
      'receivedAt', page.received_at, 'processedAt', page.processed_at
    ) order by page.place) filter (where page.place <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.id) order by page.place)
        filter (where page.place >= page_size))
  from page;
end
$$;
comment on function private.list_payment_events is 'See api.list_payment_events.';

create function api.list_payment_events(
  outcome text default null, page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select page.items, page."nextCursor"
  from private.list_payment_events(
    list_payment_events.outcome, page_cursor, page_size) as page;
end
$$;
comment on function api.list_payment_events is
  'For admins: what providers reported and what it changed, newest first. 403 admin_only.';

grant execute on function private.list_payment_events to authenticated;
grant execute on function api.list_payment_events to authenticated;
