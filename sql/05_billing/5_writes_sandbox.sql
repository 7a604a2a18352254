-- A mock payment provider for development. The edge functions refuse to use it in production.

create function private.sandbox_charge(
  reference text, amount numeric, currency text, title text, return_url text
) returns text
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.sandbox_charges (reference, amount, currency, title, return_url)
  values (sandbox_charge.reference, sandbox_charge.amount, sandbox_charge.currency,
    sandbox_charge.title, sandbox_charge.return_url)
  on conflict do nothing;
  return (
    select sandbox_charges.id from private.sandbox_charges
    where sandbox_charges.reference = sandbox_charge.reference
  );
end
$$;

create function private.sandbox_look_up(id text, reference text) returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'ref', sandbox_charges.id, 'reference', sandbox_charges.reference,
      'status', sandbox_charges.state,
      'amount', to_char(sandbox_charges.amount, 'FM999999999990.000'),
      'currency', sandbox_charges.currency, 'mode', 'test',
      'paymentId', case sandbox_charges.state
        when 'paid' then 'pay_' || substr(sandbox_charges.id, 5) end,
      'title', sandbox_charges.title, 'returnUrl', sandbox_charges.return_url,
      'details', json_build_object(
        'method', 'sandbox', 'trackId', substr(sandbox_charges.id, 5, 10),
        'referenceId', substr(sandbox_charges.id, 15, 12)))
    from private.sandbox_charges
    where sandbox_charges.id = sandbox_look_up.id
      or sandbox_charges.reference = sandbox_look_up.reference
  );
end
$$;

create function private.sandbox_decide(id text, state text) returns json
  language plpgsql security definer set search_path = ''
as $$
begin
  update private.sandbox_charges
  set state = sandbox_decide.state, decided_at = clock_timestamp()
  where sandbox_charges.id = sandbox_decide.id and sandbox_charges.state <> 'paid';
  return private.sandbox_look_up(sandbox_decide.id, null);
end
$$;

create function private.sandbox_refund(charge_id text, reference text, amount numeric)
  returns json
  language plpgsql security definer set search_path = ''
as $$
begin
  insert into private.sandbox_refunds (charge_id, reference, amount)
  values (sandbox_refund.charge_id, sandbox_refund.reference, sandbox_refund.amount)
  on conflict do nothing;
  return private.sandbox_refund_look_up(null, sandbox_refund.reference);
end
$$;

create function private.sandbox_refund_look_up(id text, reference text) returns json
  language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'refundRef', sandbox_refunds.id, 'reference', sandbox_refunds.reference,
      'chargeRef', sandbox_refunds.charge_id, 'status', 'refunded',
      'amount', to_char(sandbox_refunds.amount, 'FM999999999990.000'), 'currency', 'KWD')
    from private.sandbox_refunds
    where sandbox_refunds.id = sandbox_refund_look_up.id
      or sandbox_refunds.reference = sandbox_refund_look_up.reference
  );
end
$$;

grant execute on function
  private.sandbox_charge, private.sandbox_look_up, private.sandbox_decide, private.sandbox_refund,
  private.sandbox_refund_look_up
  to backend;
