create function private.end_plans_of_closed_identity() returns trigger
  language plpgsql
  security definer -- writes rows of the identity that is being closed
  set search_path = ''
as $$
begin
  perform private.void_invoices(new.id, null);
  update public.subscriptions set renews = false
  where subscriptions.identity_id = new.id and subscriptions.status in ('active', 'next');
  return null;
end
$$;
comment on function private.end_plans_of_closed_identity is
  'Voids the unpaid plan invoices of a closed identity and stops the renewal of its plan.';

create trigger identities_forget_their_plans
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.end_plans_of_closed_identity();

create function private.anonymise_receipts() returns trigger
  language plpgsql
  security definer -- writes rows of the identity that is being closed
  set search_path = ''
as $$
begin
  update public.receipts set payer_name = 'حساب محذوف'
  from public.invoices
  where invoices.id = receipts.invoice_id and invoices.identity_id = new.id;
  update public.refund_documents set payer_name = 'حساب محذوف'
  from public.invoices
  where invoices.id = refund_documents.invoice_id and invoices.identity_id = new.id;
  return null;
end
$$;
comment on function private.anonymise_receipts is
  'Removes the payer''s name from the receipts and refund documents of a closed identity. The '
  'documents themselves are kept.';

create trigger identities_are_forgotten_on_receipts
  after update of status on public.identities
  for each row when (new.status = 'closed' and old.status <> 'closed')
  execute function private.anonymise_receipts();
