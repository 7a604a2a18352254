create function private.refund_room(invoice public.invoices) returns numeric
  language sql stable
  security definer -- reads refunds, which no client may read
  set search_path = ''
as $$
  select invoice.total - coalesce(sum(refunds.amount), 0) from public.refunds
  left join public.payments on payments.id = refunds.payment_id
  where refunds.invoice_id = invoice.id and refunds.state in ('requested', 'settled')
    and payments.state is distinct from 'surplus'
$$;

create function private.surplus_room(payment public.payments) returns numeric
  language sql stable
  security definer -- reads refunds, which no client may read
  set search_path = ''
as $$
  select payment.amount - coalesce(sum(refunds.amount), 0) from public.refunds
  where refunds.payment_id = payment.id and refunds.state in ('requested', 'settled')
$$;
comment on function private.surplus_room is
  'How much can still be refunded of a payment that was captured after its invoice had been paid.';

create function private.went_to_wallet(invoice public.invoices, payment public.payments)
  returns boolean
  language sql immutable set search_path = ''
as $$
  select invoice.credited or payment.state is not distinct from 'surplus'
$$;
comment on function private.went_to_wallet is
  'Whether the payment was credited to the wallet. If so, the amount of a refund to the source is '
  'held in the wallet until the provider responds.';

create function private.held_for_refunds(identity_id uuid) returns numeric
  language sql stable
  security definer -- reads refunds, which no client may read
  set search_path = ''
as $$
  select coalesce(sum(refunds.amount), 0)
  from public.invoices
  join public.refunds on refunds.invoice_id = invoices.id
  left join public.payments on payments.id = refunds.payment_id
  where invoices.identity_id = held_for_refunds.identity_id
    and refunds.state = 'requested' and refunds.destination = 'source'
    and private.went_to_wallet(invoices, payments)
    and not exists (select from public.wallet_payouts where wallet_payouts.id = refunds.id)
$$;

create function private.can_deliver(invoice public.invoices) returns boolean
  language sql stable
  security definer -- reads the identity and its plan, for private.settle_payment
  set search_path = ''
as $$
  select invoice.state <> 'void'
    and exists (
      select from public.identities
      where identities.id = invoice.identity_id and identities.status <> 'closed'
    )
    and not (invoice.purpose = 'plan' and private.loses_plan(invoice.identity_id))
    and not exists (
      select from public.invoice_lines
      join public.plans on plans.id = invoice_lines.plan_id
      cross join lateral jsonb_populate_record(plans, invoice_lines.terms) as sold
      cross join private.plan_of(invoice.identity_id) as current
      where invoice_lines.invoice_id = invoice.id
        and (current.id <> sold.id or private.plan_terms(current) <> invoice_lines.terms)
        and (
          current.id <> sold.id and not sold.on_sale
          or not private.begins_at_once(sold, current) and exists (
            select from public.subscriptions as next
            where next.identity_id = invoice.identity_id and next.status = 'next'
              and next.starts_at > private.plan_clock(invoice.identity_id)
              and (next.plan_id, next.terms) <> (sold.id, invoice_lines.terms)
          )
        )
    )
$$;

create function private.most_given_up() returns numeric
  language sql immutable
  return 20.000;

create function private.available_money(account_id uuid, identity_id uuid default null)
  returns numeric
  language sql stable
  security definer -- reads the wallets of all identities of the account
  set search_path = ''
as $$
  select coalesce(sum(wallets.balance), 0) from public.wallets
  join public.identities on identities.id = wallets.identity_id
  where identities.account_id = available_money.account_id and wallets.part = 'available'
    and identities.id = coalesce(available_money.identity_id, identities.id)
$$;

create function private.has_obligations(
  account_id uuid, money text, identity_id uuid default null
) returns boolean
  language sql stable
  security definer -- reads the wallets of all identities of the account
  set search_path = ''
as $$
  select exists (
    select from public.wallets
    join public.identities on identities.id = wallets.identity_id
    where identities.account_id = has_obligations.account_id and wallets.balance > 0
      and identities.id = coalesce(has_obligations.identity_id, identities.id)
      and (wallets.part = 'held' or money is null)
  ) or exists (
    select from public.invoices
    where invoices.account_id = has_obligations.account_id and invoices.state = 'processing'
      and (has_obligations.identity_id is null
        or invoices.identity_id = has_obligations.identity_id)
  )
$$;
comment on function private.has_obligations is
  'Whether a refund or payment is in progress, or the owner still has to decide what happens to '
  'the balance.';
