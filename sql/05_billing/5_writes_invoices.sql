create function private.issue_invoice(
  identity_id uuid, purpose text, due_at timestamptz, title_ar text, title_en text,
  unit_price numeric, quantity integer default 1, plan public.plans default null
) returns uuid
  language plpgsql
  security definer -- writes invoices, which no client may insert
  set search_path = ''
as $$
declare
  made uuid;
begin
  insert into public.invoices (year, serial, identity_id, account_id, purpose, total, due_at)
  select 0, 0, identities.id, identities.account_id, issue_invoice.purpose,
    issue_invoice.unit_price * issue_invoice.quantity, issue_invoice.due_at
  from public.identities where identities.id = issue_invoice.identity_id
  returning invoices.id into made;
  insert into public.invoice_lines
    (invoice_id, position, kind, plan_id, terms, title_ar, title_en, quantity, unit_price, amount)
  values (made, 1, issue_invoice.purpose, plan.id,
    case when plan.id is not null then private.plan_terms(plan) end, issue_invoice.title_ar,
    issue_invoice.title_en, issue_invoice.quantity, issue_invoice.unit_price,
    issue_invoice.unit_price * issue_invoice.quantity);
  return made;
end
$$;

create function private.issue_plan_invoice(
  identity_id uuid, plan public.plans, due_at timestamptz
) returns uuid
  language sql set search_path = ''
as $$
  select private.issue_invoice(identity_id, 'plan', due_at,
    format('%s، %s يوماً', plan.name_ar, plan.interval_days),
    format('%s plan, %s days', plan.name_en, plan.interval_days),
    plan.price, 1, plan)
$$;

create function private.lock_invoice(invoice_id uuid) returns public.invoices
  language plpgsql
  security definer -- locks any invoice; the caller has checked access
  set search_path = ''
as $$
declare
  invoice public.invoices;
begin
  -- The account is locked first, so that settling a payment waits while the account is being
  -- deleted.
  perform private.lock_owner(invoices.identity_id) from public.invoices
  where invoices.id = lock_invoice.invoice_id;
  select * into invoice from public.invoices
  where invoices.id = lock_invoice.invoice_id
  for no key update;
  return invoice;
end
$$;
comment on function private.lock_invoice is
  'Locks the owner''s account and then the invoice. Payments, refunds and wallets are locked '
  'afterwards.';

create function private.void_invoices(identity_id uuid, current public.plans) returns void
  language plpgsql
  security definer -- voids invoices of any identity; the caller has checked access
  set search_path = ''
as $$
declare
  unpaid uuid;
begin
  for unpaid in
    select invoices.id from public.invoices
    where invoices.identity_id = void_invoices.identity_id
      and invoices.state in ('open', 'failed')
      and invoices.purpose = 'plan'
      and (void_invoices.current is null or exists (
        select from public.invoice_lines
        join public.plans on plans.id = invoice_lines.plan_id
        where invoice_lines.invoice_id = invoices.id
          and not private.begins_at_once(
            jsonb_populate_record(plans, invoice_lines.terms), void_invoices.current)
      ))
    order by invoices.id
    for update skip locked -- a locked invoice is being paid
  loop
    update public.invoices set state = 'open'
    where invoices.id = unpaid and invoices.state = 'failed';
    update public.invoices set state = 'void' where invoices.id = unpaid;
  end loop;
end
$$;
comment on function private.void_invoices is
  'Voids unpaid plan invoices: all of them or, if the current plan is given, those for this plan '
  'and for any plan that would follow it.';

create function private.make_receipt(invoice_id uuid) returns void
  language sql
  security definer -- writes receipts, which no client may write
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
      select coalesce(json_agg(json_build_object(
        'titleAr', invoice_lines.title_ar,
        'titleEn', invoice_lines.title_en,
        'quantity', invoice_lines.quantity,
        'unitPrice', to_char(invoice_lines.unit_price, 'FM999999999990.000'),
        'amount', to_char(invoice_lines.amount, 'FM999999999990.000')
      ) order by invoice_lines.position), '[]')
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

create function private.deliver_invoice(invoice public.invoices, pay_with text) returns void
  language plpgsql
  security definer -- starts plans and adds credits, for functions that have settled the invoice
  set search_path = ''
as $$
declare
  line public.invoice_lines;
begin
  for line in
    select * from public.invoice_lines
    where invoice_lines.invoice_id = invoice.id order by invoice_lines.position
  loop
    case line.kind
      when 'plan' then
        perform private.start_plan(invoice, line, pay_with);
      when 'feature' then
        perform private.add_credits(invoice.identity_id, line.quantity, invoice.id);
      else null; -- a top-up delivers nothing but the money
    end case;
  end loop;
end
$$;

create function private.mark_paid(invoice public.invoices, paid_with text, credited boolean)
  returns void
  language plpgsql
  security definer -- writes invoices, for functions that have moved the money
  set search_path = ''
as $$
begin
  update public.invoices
  set state = 'paid', paid_at = now(), paid_with = mark_paid.paid_with,
      credited = mark_paid.credited
  where invoices.id = invoice.id;
  perform private.make_receipt(invoice.id);
  perform private.notify(invoice.account_id, invoice.identity_id, 'invoice_paid', invoice.id,
    jsonb_build_object('number', invoice.number, 'amount', invoice.total));
end
$$;

create function private.pay_from_wallet(invoice_id uuid) returns void
  language plpgsql
  security definer -- moves money out of the wallet of the invoice's identity
  set search_path = ''
as $$
declare
  invoice public.invoices;
begin
  invoice := private.lock_invoice(invoice_id);
  if invoice.state not in ('open', 'failed') then
    perform private.refuse(409, 'status_transition_invalid');
  end if;
  perform private.move_money(
    private.wallet_of(invoice.identity_id), private.system_account('sales'), invoice.total,
    'purchase', 'purchase', invoice.id, invoice.id);
  perform private.mark_paid(invoice, 'wallet', false);
  perform private.deliver_invoice(invoice, 'wallet');
end
$$;
