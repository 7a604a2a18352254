create function private.get_invoice(invoice_id uuid) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  invoice public.invoices;
begin
  select * into invoice from public.invoices
  where invoices.id = get_invoice.invoice_id and invoices.identity_id = owner_id;
  if invoice.id is null then
    perform private.refuse(404, 'invoice_not_found');
  end if;
  return private.invoice_record(invoice);
end
$$;
comment on function private.get_invoice is
  'Api: An invoice of the acting identity. 404 invoice_not_found.';

create function private.list_invoices(
  state text default null, page_cursor text default null, page_size integer default 20
) returns table (items json, "nextCursor" text)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  query text := concat_ws(' ', 'list_invoices', owner_id, state);
  key jsonb := private.cursor_key(query, page_cursor);
  before_at timestamptz := coalesce(key ->> 0, 'infinity');
  before_id uuid := coalesce(key ->> 1, 'ffffffff-ffff-ffff-ffff-ffffffffffff');
begin
  return query
  with page as materialized (
    select invoices,
      invoices.id, invoices.issued_at,
      row_number() over (order by invoices.issued_at desc, invoices.id desc) as row_number
    from public.invoices
    where invoices.identity_id = owner_id
      and (list_invoices.state is null or invoices.state = list_invoices.state)
      and (invoices.issued_at, invoices.id) < (before_at, before_id)
    order by invoices.issued_at desc, invoices.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(private.invoice_record(page.invoices) order by page.row_number)
      filter (where page.row_number <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.issued_at, page.id) order by page.row_number)
        filter (where page.row_number >= page_size))
  from page;
end
$$;
comment on function private.list_invoices is 'Api: The acting identity''s invoices, newest first.';

create function private.list_invoice_refunds(invoice_id uuid) returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
begin
  if not exists (
    select from public.invoices
    where invoices.id = list_invoice_refunds.invoice_id and invoices.identity_id = owner_id
  ) then
    perform private.refuse(404, 'invoice_not_found');
  end if;
  return json_build_object('items', private.refund_documents_of(invoice_id));
end
$$;
comment on function private.list_invoice_refunds is
  'Api: The documents of the refunds of an invoice, oldest first. 404 invoice_not_found.';

create function private.get_receipt(invoice_id uuid)
  returns table (payer text, receipt json, refunds json)
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
begin
  if not exists (
    select from public.invoices
    where invoices.id = get_receipt.invoice_id and invoices.identity_id = owner_id
  ) then
    perform private.refuse(404, 'invoice_not_found');
  end if;
  return query
  select receipts.payer_name, receipts.receipt, private.refund_documents_of(get_receipt.invoice_id)
  from public.receipts
  where receipts.invoice_id = get_receipt.invoice_id;
  if not found then
    perform private.refuse(404, 'not_found'); -- the invoice is not paid yet
  end if;
end
$$;
comment on function private.get_receipt is
  'Api: The receipt of a paid invoice, with the documents of its refunds. 404 invoice_not_found; 404 '
  'not_found before it is paid.';

grant execute on function
  private.get_invoice, private.list_invoices, private.list_invoice_refunds, private.get_receipt
  to authenticated;
