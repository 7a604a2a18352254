-- What paying an invoice does, and what it gives.

create function private.can_give(invoice public.invoices) returns boolean
  language sql
  stable
  security definer -- looks at everybody's plans, for functions that settle
  set search_path = ''
as $$
  select invoice.state <> 'void'
    and exists (
      select from public.identities
      where identities.id = invoice.identity_id and identities.status <> 'closed'
    )
    and not exists (
      select from public.invoice_lines
      join public.plans on plans.id = invoice_lines.plan_id
      where invoice_lines.invoice_id = invoice.id
        and not plans.on_sale
        and (private.plan_of(invoice.identity_id)).id <> plans.id
    )
$$;
comment on function private.can_give is
  'Whether what an invoice is for can still be given: it is not void, its plan not withdrawn.';

create function private.give_effects(invoice public.invoices, pay_with text) returns void
  language plpgsql
  security definer -- writes for functions that have settled an invoice
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
        perform private.start_plan(invoice.identity_id, line.plan_id, pay_with, invoice.id);
      when 'feature' then
        perform private.add_credits(invoice.identity_id, line.quantity, invoice.id);
      else null; -- a top-up is the money itself
    end case;
  end loop;
end
$$;
comment on function private.give_effects is 'Gives what the lines of a paid invoice say.';

create function private.mark_paid(invoice public.invoices, paid_with text, credited boolean)
  returns void
  language plpgsql
  security definer -- writes for functions that have moved the money
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
comment on function private.mark_paid is 'A paid invoice: state, receipt, word to its owner.';

create function private.pay_from_wallet(invoice_id uuid) returns void
  language plpgsql
  security definer -- spends the wallet of the invoice's own identity
  set search_path = ''
as $$
declare
  invoice public.invoices;
begin
  invoice := private.take_invoice(invoice_id);
  if invoice.state not in ('open', 'failed') then
    perform private.refuse(409, 'status_transition_invalid');
  end if;
  perform private.move_money(
    private.wallet_of(invoice.identity_id), private.house('sales'), invoice.total,
    'purchase', 'purchase', invoice.id, invoice.id);
  perform private.mark_paid(invoice, 'wallet', false);
  perform private.give_effects(invoice, 'wallet');
end
$$;
comment on function private.pay_from_wallet is
  'Pays an invoice from its identity''s wallet. 402 wallet_insufficient.';
