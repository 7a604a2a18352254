-- What an admin may change of money and plans by hand: 01_base/2_rules_edits.sql.

create trigger invoices_are_paid_by_payments
  before update of state on public.invoices
  for each row when (
    old.state <> new.state and new.state in ('paid', 'partially_refunded', 'refunded')
  )
  execute function private.refuse_edit(
    'An invoice is paid by a payment, or from the wallet in the app, and refunded by a row of '
    'admin_acts with act refund: money and receipt go with it.');
comment on trigger invoices_are_paid_by_payments on public.invoices is
  'Before invoices_go_their_way, by its name: its sentence says what to do instead.';
