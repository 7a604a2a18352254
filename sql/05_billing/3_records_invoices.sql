-- Invoices as clients see them, and their receipts.

create table public.receipts (
  invoice_id uuid primary key references public.invoices (id),
  payer_name text not null,
  receipt json not null,
  made_at timestamptz not null default now()
);
comment on table public.receipts is
  'What was true when an invoice was paid. Written once, never changed: refunds have their own.';
comment on column public.receipts.invoice_id is 'Of which invoice.';
comment on column public.receipts.payer_name is
  'Who paid, as called then; forgotten when the account is deleted, and nothing else ever changes.';
comment on column public.receipts.receipt is 'All else that the printed page says.';
comment on column public.receipts.made_at is 'When.';
alter table public.receipts enable row level security;
revoke all on public.receipts from anon, authenticated, service_role;
grant select on public.receipts to authenticated, service_role;
create policy "identities see their own receipts" on public.receipts for select to authenticated
  using (invoice_id in (
    select invoices.id from public.invoices
    where invoices.identity_id = (select private.identity_id())
  ));
create trigger receipts_stay
  before delete or truncate on public.receipts
  for each statement execute function private.refuse_rewriting();

create function private.guard_receipt() returns trigger
  language plpgsql
  set search_path = ''
as $$
begin
  if new.invoice_id <> old.invoice_id or new.receipt::text <> old.receipt::text
    or new.made_at <> old.made_at or new.payer_name <> 'حساب محذوف' then
    raise exception 'a receipt stays as it is' using errcode = '42501';
  end if;
  return new;
end
$$;
comment on function private.guard_receipt is
  'Of a receipt only the name of a deleted account may go.';

create trigger receipts_stay_as_they_are
  before update on public.receipts
  for each row execute function private.guard_receipt();

create function private.forget_payer() returns trigger
  language plpgsql
  security definer -- writes rows of whoever is going
  set search_path = ''
as $$
begin
  update public.receipts set payer_name = 'حساب محذوف'
  from public.invoices
  where invoices.id = receipts.invoice_id and invoices.identity_id = new.id;
  return null;
end
$$;
comment on function private.forget_payer is
  'Records of money stay; whose name was on them does not.';

create trigger identities_are_forgotten_on_receipts
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.forget_payer();

create function private.payment_records(invoice_id uuid) returns json
  language sql
  stable
  security definer -- for functions that have looked whose invoice it is
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
comment on function private.payment_records is 'The payments tried for an invoice, oldest first.';

create function private.invoice_record(invoice public.invoices) returns json
  language sql
  stable
  security definer -- for functions that have looked whose invoice it is
  set search_path = ''
as $$
  select json_build_object(
    'id', invoice.id,
    'number', invoice.number,
    'purpose', invoice.purpose,
    'lines', (
      select json_agg(json_build_object(
        'kind', invoice_lines.kind,
        'titleAr', invoice_lines.title_ar,
        'titleEn', invoice_lines.title_en,
        'quantity', invoice_lines.quantity,
        'unitPrice', invoice_lines.unit_price,
        'amount', invoice_lines.amount
      ) order by invoice_lines.position)
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
comment on function private.invoice_record is 'An invoice as its owner sees it.';

create function private.own_invoice(invoice_id uuid) returns json
  language plpgsql
  stable
  security definer -- reads lines and payments of the caller's own invoice
  set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  invoice public.invoices;
begin
  select * into invoice from public.invoices
  where invoices.id = own_invoice.invoice_id and invoices.identity_id = owner_id;
  if invoice.id is null then
    perform private.refuse(404, 'invoice_not_found');
  end if;
  return private.invoice_record(invoice);
end
$$;
comment on function private.own_invoice is
  'An invoice of the acting identity. 404 invoice_not_found.';

create function api.get_invoice(invoice_id uuid) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.own_invoice(get_invoice.invoice_id);
end
$$;
comment on function api.get_invoice is
  'An invoice of the acting identity. 404 invoice_not_found.';

create function api.get_payment_status(invoice_id uuid) returns json
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return private.own_invoice(get_payment_status.invoice_id);
end
$$;
comment on function api.get_payment_status is
  'The invoice as the list of invoices has it, for whoever comes back from paying.';

create function private.list_invoices(state text, page_cursor text, page_size integer)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  security definer -- reads lines and payments of the caller's own invoices
  set search_path = ''
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
      row_number() over (order by invoices.issued_at desc, invoices.id desc) as place
    from public.invoices
    where invoices.identity_id = owner_id
      and (list_invoices.state is null or invoices.state = list_invoices.state)
      and (invoices.issued_at, invoices.id) < (before_at, before_id)
    order by invoices.issued_at desc, invoices.id desc
    limit private.page_size(page_size) + 1
  )
  select
    coalesce(json_agg(private.invoice_record(page.invoices) order by page.place)
      filter (where page.place <= page_size), '[]'),
    private.next_cursor(query,
      jsonb_agg(jsonb_build_array(page.issued_at, page.id) order by page.place)
        filter (where page.place >= page_size))
  from page;
end
$$;
comment on function private.list_invoices is 'A page of invoices; see api.list_invoices.';

create function api.list_invoices(
  state text default null, page_cursor text default null, page_size integer default 20
)
  returns table (items json, "nextCursor" text)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select page.items, page."nextCursor"
  from private.list_invoices(list_invoices.state, page_cursor, page_size) as page;
end
$$;
comment on function api.list_invoices is 'The invoices of the acting identity, newest first.';

-- Receipts ---------------------------------------------------------------------------------------

create function private.make_receipt(invoice_id uuid) returns void
  language sql
  security definer -- writes what nobody can change afterwards
  set search_path = ''
as $$
  insert into public.receipts (invoice_id, payer_name, receipt)
  select invoices.id, identities.display_name, json_build_object(
    'number', invoices.number,
    'issuedAt', invoices.issued_at,
    'paidAt', invoices.paid_at,
    'paidWith', invoices.paid_with,
    'seller', private.setting('seller'),
    'payerType', identities.type,
    'lines', (
      select json_agg(json_build_object(
        'titleAr', invoice_lines.title_ar,
        'titleEn', invoice_lines.title_en,
        'quantity', invoice_lines.quantity,
        'unitPrice', to_char(invoice_lines.unit_price, 'FM999999999990.000'),
        'amount', to_char(invoice_lines.amount, 'FM999999999990.000')
      ) order by invoice_lines.position)
      from public.invoice_lines where invoice_lines.invoice_id = invoices.id
    ),
    'tax', '0.000',
    'total', to_char(invoices.total, 'FM999999999990.000'),
    'currency', invoices.currency,
    'credited', invoices.credited,
    'payment', (
      select json_build_object(
        'provider', payments.provider,
        'providerRef', payments.provider_ref,
        'paymentId', payments.provider_payment_id,
        'method', payments.details ->> 'method',
        'trackId', payments.details ->> 'trackId',
        'referenceId', payments.details ->> 'referenceId',
        'authorizationId', payments.details ->> 'authorizationId')
      from public.payments
      where payments.invoice_id = invoices.id and payments.state = 'captured'
    )
  )
  from public.invoices
  join public.identities on identities.id = invoices.identity_id
  where invoices.id = make_receipt.invoice_id
$$;
comment on function private.make_receipt is 'Writes down what the receipt says, once.';

create function private.get_receipt(invoice_id uuid)
  returns table (payer text, receipt json)
  language plpgsql
  stable
  security definer -- reads a receipt of the caller's own invoice
  set search_path = ''
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
  select receipts.payer_name, receipts.receipt from public.receipts
  where receipts.invoice_id = get_receipt.invoice_id;
  if not found then
    perform private.refuse(404, 'not_found'); -- it is not paid yet
  end if;
end
$$;
comment on function private.get_receipt is 'See api.get_receipt.';

create function api.get_receipt(invoice_id uuid) returns table (payer text, receipt json)
  language plpgsql
  stable
  set search_path = ''
as $$
begin
  return query
  select kept.payer, kept.receipt from private.get_receipt(get_receipt.invoice_id) as kept;
end
$$;
comment on function api.get_receipt is
  'What the receipt of a paid invoice says. 404 invoice_not_found; 404 not_found before that.';

grant execute on function private.own_invoice, private.list_invoices, private.get_receipt
  to authenticated;
grant execute on function
  api.get_invoice, api.get_payment_status, api.list_invoices, api.get_receipt
  to authenticated;
