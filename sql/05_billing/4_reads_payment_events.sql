-- What payment providers reported, for admins.

create function private.list_payment_events(
  outcome text, provider text, kind text, payment_id uuid, invoice_id uuid,
  since timestamptz, until timestamptz, sort text, page_cursor text, page_size integer
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- everybody's payments, for admins only
  set search_path = ''
  set plan_cache_mode = 'force_custom_plan' -- a filter that is not given costs nothing
as $$
declare
  query text := concat_ws(' ', 'list_payment_events', private.require_admin(), jsonb_build_array(
    outcome, provider, kind, payment_id, invoice_id, since, until, sort));
  key jsonb := private.cursor_key(query, page_cursor);
begin
  if (sort in ('newest', 'oldest')) is not true then
    perform private.refuse_field('sort', 'invalid');
  end if;
  return query
  with page as materialized (
    select payment_events.*, payments.invoice_id,
      row_number() over (
        order by case when sort = 'newest' then payment_events.id end desc, payment_events.id
      ) as place
    from public.payment_events
    left join public.payments on payments.id = payment_events.payment_id
    where (list_payment_events.outcome is null
        or payment_events.outcome = list_payment_events.outcome)
      and (list_payment_events.provider is null
        or payment_events.provider = list_payment_events.provider)
      and (list_payment_events.kind is null or payment_events.kind = list_payment_events.kind)
      and (list_payment_events.payment_id is null
        or payment_events.payment_id = list_payment_events.payment_id)
      and (list_payment_events.invoice_id is null
        or payments.invoice_id = list_payment_events.invoice_id)
      and (since is null or payment_events.received_at >= since)
      and (until is null or payment_events.received_at < until)
      and case
        when key is null then true
        when sort = 'newest' then payment_events.id < (key ->> 0)::bigint
        else payment_events.id > (key ->> 0)::bigint
      end
    order by case when sort = 'newest' then payment_events.id end desc, payment_events.id
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
  outcome text default null, provider text default null, kind text default null,
  payment_id uuid default null, invoice_id uuid default null,
  since timestamptz default null, until timestamptz default null, sort text default 'newest',
  page_cursor text default null, page_size integer default 20
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
    outcome, provider, kind, payment_id, invoice_id, since, until, sort,
    page_cursor, page_size) as page;
end
$$;
comment on function api.list_payment_events is
  'For admins: what providers reported and what it changed, newest or oldest first, by provider, '
  'outcome, payment, invoice and when. 403 admin_only.';

grant execute on function private.list_payment_events to authenticated;
grant execute on function api.list_payment_events to authenticated;
