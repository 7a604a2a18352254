create trigger invoices_are_paid_by_payments
  before update of state on public.invoices
  for each row when (
    old.state <> new.state and new.state in ('paid', 'partially_refunded', 'refunded')
  )
  execute function private.refuse_edit(
    'An invoice is paid by a payment, or from the wallet in the app, and refunded by a row of '
    'admin_acts with act refund: money and receipt go with it.');
comment on trigger invoices_are_paid_by_payments on public.invoices is
  'Runs before invoices_go_their_way, so that the message of this trigger is shown.';
