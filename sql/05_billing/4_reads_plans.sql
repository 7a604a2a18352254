create function private.list_plans() returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  perform private.require_account();
  return json_build_object('items', (
    select coalesce(json_agg(private.plan_record(plans) order by plans.position, plans.code), '[]')
    from public.plans where plans.on_sale
  ));
end
$$;
comment on function private.list_plans is 'Api: The plans that are on sale.';

create function private.current_plan() returns json
  language plpgsql stable security definer set search_path = ''
as $$
declare
  owner_id uuid := private.require_identity();
  plan public.plans := private.plan_of(owner_id);
begin
  return json_build_object(
    'plan', private.plan_record(plan),
    'subscription', (
      select json_build_object(
        'startsAt', subscriptions.starts_at, 'endsAt', subscriptions.ends_at,
        'payWith', subscriptions.pay_with, 'renews', subscriptions.renews)
      from public.subscriptions
      where subscriptions.identity_id = owner_id and subscriptions.status in ('active', 'next')
        and subscriptions.ends_at > now()
      order by subscriptions.status
      limit 1
    ),
    'next', (
      select json_build_object(
        'plan', private.plan_record(jsonb_populate_record(plans, subscriptions.terms)),
        'startsAt', subscriptions.starts_at, 'endsAt', subscriptions.ends_at,
        'payWith', subscriptions.pay_with, 'renews', subscriptions.renews)
      from public.subscriptions
      join public.plans on plans.id = subscriptions.plan_id
      where subscriptions.identity_id = owner_id and subscriptions.status = 'next'
        and subscriptions.starts_at > now()
    ),
    'usage', json_build_object(
      'activeListings', json_build_object(
        'limit', plan.active_listings, 'used', private.listings_used(owner_id)),
      'photosPerListing', json_build_object('limit', plan.photos_per_listing),
      'featuredCredits', json_build_object('limit', plan.featured_credits, 'left', (
        select coalesce(sum(featured_credits.credits), 0) from public.featured_credits
        where featured_credits.identity_id = owner_id
      ))
    )
  );
end
$$;
comment on function private.current_plan is
  'Api: The current plan of the acting identity, its subscription, the plan that follows, and the '
  'usage of the quotas.';

create function private.unpaid_plan_invoice(identity_id uuid, plan public.plans) returns uuid
  language sql stable
  security definer -- reads an identity's invoices for private.subscribe and private.remind_of_plan
  set search_path = ''
as $$
  select invoices.id from public.invoices
  join public.invoice_lines on invoice_lines.invoice_id = invoices.id
  where invoices.identity_id = unpaid_plan_invoice.identity_id
    and invoices.state in ('open', 'processing', 'failed')
    and invoices.due_at > now()
    and invoice_lines.plan_id = plan.id and invoice_lines.terms = private.plan_terms(plan)
  order by invoices.issued_at desc
  limit 1
$$;

grant execute on function private.list_plans, private.current_plan to authenticated;
