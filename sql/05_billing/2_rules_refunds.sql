-- How much can still be refunded, what can still be delivered, who still has money here.

create function private.refund_room(invoice public.invoices) returns numeric
  language sql
  stable
  security definer -- reads for functions that hold the invoice
  set search_path = ''
as $$
  select invoice.total - coalesce(sum(refunds.amount), 0) from public.refunds
  left join public.payments on payments.id = refunds.payment_id
  where refunds.invoice_id = invoice.id and refunds.state in ('requested', 'settled')
    and payments.state is distinct from 'surplus'
$$;
comment on function private.refund_room is 'How much of an invoice can still be refunded.';

create function private.surplus_room(payment public.payments) returns numeric
  language sql
  stable
  security definer -- reads for functions that hold the invoice
  set search_path = ''
as $$
  select payment.amount - coalesce(sum(refunds.amount), 0) from public.refunds
  where refunds.payment_id = payment.id and refunds.state in ('requested', 'settled')
$$;
comment on function private.surplus_room is
  'How much can still be refunded of a payment that came after its invoice was paid.';

create function private.went_to_wallet(invoice public.invoices, payment public.payments)
  returns boolean
  language sql
  immutable
  set search_path = ''
as $$
  select invoice.credited or payment.state is not distinct from 'surplus'
$$;
comment on function private.went_to_wallet is
  'Whether the money of an invoice, or of a payment that came after it was paid, lies in the wallet: '
  'then its refund to the source is held there until the provider has answered.';

create function private.held_for_refunds(identity_id uuid) returns numeric
  language sql
  stable
  security definer -- reads everybody's refunds, for a job
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
comment on function private.held_for_refunds is
  'What the wallet of an identity has to hold: refunds that are under way.';

create function private.can_deliver(invoice public.invoices) returns boolean
  language sql
  stable
  security definer -- reads everybody's plans, for functions that settle
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
comment on function private.can_deliver is
  'Whether what an invoice is for can still be delivered: it is not void, its plan not withdrawn.';

create function private.most_given_up() returns numeric
  language sql
  immutable
  return 20.000;
comment on function private.most_given_up is 'KWD: what people may give up at most.';

create function private.available_money(account_id uuid) returns numeric
  language sql
  stable
  security definer -- for the deletion of accounts
  set search_path = ''
as $$
  select coalesce(sum(wallets.balance), 0) from public.wallets
  join public.identities on identities.id = wallets.identity_id
  where identities.account_id = available_money.account_id and wallets.part = 'available'
$$;
comment on function private.available_money is
  'KWD that lie in the wallets of an account, of all its identities, and are not held.';

create function private.has_obligations(account_id uuid, money text) returns boolean
  language sql
  stable
  security definer -- for the deletion of accounts
  set search_path = ''
as $$
  select exists (
    select from public.wallets
    join public.identities on identities.id = wallets.identity_id
    where identities.account_id = has_obligations.account_id and wallets.balance > 0
      and (wallets.part = 'held' or money is null)
  ) or exists (
    select from public.invoices
    where invoices.account_id = has_obligations.account_id and invoices.state = 'processing'
  )
$$;
comment on function private.has_obligations is
  'Whether an account has a refund or a payment in progress, or money in a wallet of which nobody has '
  'said what becomes of it (money: refund or give_up): 409 account_has_obligations.';
