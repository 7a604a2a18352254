-- What an admin may change of money and plans by hand: 01_base/2_rules_edits.sql.

create trigger invoices_are_paid_by_payments
  before update of state on public.invoices
  for each row when (
    old.state <> new.state and new.state in ('paid', 'partially_refunded', 'refunded')
  )
  execute function private.refuse_edit(
    'An invoice is paid by a payment, or from the wallet in the app, and refunded at POST '
    '/admin/invoices/:id/refund: money and receipt go with it.');
create trigger payments_are_settled_by_their_provider
  before update of state on public.payments
  for each row when (old.state <> new.state and new.state in ('captured', 'surplus'))
  execute function private.refuse_edit(
    'A payment is captured when its provider says so: the job look_up_payments asks again by '
    'itself.');
create trigger refunds_are_settled_by_their_provider
  before update of state on public.refunds
  for each row when (old.state <> new.state)
  execute function private.refuse_edit(
    'A refund is settled or rejected when its provider says so: the job look_up_refunds asks again '
    'by itself.');
create trigger payment_events_keep_what_was_reported
  before update of status, outcome on public.payment_events
  for each row when ((old.status, old.outcome) is distinct from (new.status, new.outcome))
  execute function private.refuse_edit(
    'What a provider reported, and what became of it, stays: a payment is looked up again by '
    'itself.');
create trigger subscriptions_end_by_themselves
  before update of status on public.subscriptions
  for each row when (old.status <> new.status)
  execute function private.refuse_edit(
    'A plan ends when its time is over (set renews to false), when another replaces it, or when its '
    'invoice is refunded at POST /admin/invoices/:id/refund.');
create trigger plans_keep_the_free_one
  before update of code on public.plans
  for each row when (old.code = 'free' and new.code <> 'free')
  execute function private.refuse_edit(
    'The plan called free is everybody''s without another: change its figures, not its code.');
